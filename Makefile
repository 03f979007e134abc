# The front door. Meson and Ninja do the work; docs/building.md explains what stands behind each target.
PREFIX  ?= /usr/local
SECONDS ?= 300
MINUTES ?= 60
# Half a second each: an hour of soak begins with as many as docs/testing.md tells of, less time gets its share.
HISTORIES = $(shell awk 'BEGIN { n = int($(MINUTES) * 84); print (n < 25 ? 25 : n > 5000 ? 5000 : n) }')
VERSION  = $(shell sed -n "s/.*version: '\([0-9.]*\)', license.*/\1/p" meson.build)

# A folder is configured again when a meson.build comes; changes inside known ones Ninja sees by itself.
MESON_FILES = $(wildcard meson.build meson_options.txt src/*/meson.build sim/meson.build bench/meson.build \
	tests/meson.build tests/*/meson.build tests/*/*/meson.build)
CONFIGURE = meson setup $(if $(wildcard $(@D)/build.ninja),--reconfigure) $(MESON_FLAGS)
SANITIZE  = -Db_lundef=false -Db_sanitize=
PROGRAMS  = $(patsubst src/cli/main.c,tidelake,$(patsubst sim/main.c,tidesim,$(wildcard src/cli/main.c sim/main.c)))

.PHONY: all setup test demo bench interop interop-all soak sanitize fuzz lint coverage install dist clean

all: build/build.ninja
	ninja -C build $(PROGRAMS)

build/build.ninja: $(MESON_FILES)
	$(CONFIGURE) build
build/san/build.ninja: $(MESON_FILES)
	$(CONFIGURE) $(SANITIZE)address,undefined build/san
build/tsan/build.ninja: $(MESON_FILES)
	$(CONFIGURE) $(SANITIZE)thread build/tsan
build/coverage/build.ninja: $(MESON_FILES)
	$(CONFIGURE) -Db_coverage=true build/coverage
build/fuzz/build.ninja: $(MESON_FILES)
	CC=clang $(CONFIGURE) $(SANITIZE)address,undefined -Dfuzz=true build/fuzz
build/lint/build.ninja: $(MESON_FILES)
	CC=clang $(CONFIGURE) build/lint

setup:
	@tools/setup
setup-%:
	@tools/setup $*

test: setup
	@tools/run-tests

# What is not written yet says so, and fails.
script = @if [ -x $(1) ]; then exec $(1) $(2); else echo "make $@: $(1) is not written yet" >&2; exit 1; fi

demo: setup
	$(call script,demo/run)
bench: setup
	$(call script,bench/simulator)
	$(call script,bench/run)
	$(call script,bench/snapshots)
	$(call script,bench/delta_log)
	$(call script,bench/delta_scan)
interop: setup-interop
	$(call script,tests/interop/run)
interop-all: setup-interop
	$(call script,tests/interop/run,--all)
soak: setup
	$(call script,tests/soak/history,$(HISTORIES))
	$(call script,tests/soak/run,$(MINUTES))

sanitize: setup
	@tools/run-tests --threads
fuzz: setup-fuzz build/fuzz/build.ninja
	ninja -C build/fuzz
	tools/fuzz $(SECONDS)
lint: setup-lint setup-clang build/lint/build.ninja
	tools/lint
coverage: setup-coverage build/coverage/build.ninja
	-meson test -C build/coverage
	gcovr --root . --filter src/ --filter sim/ --html-details build/coverage/report.html --print-summary build/coverage
	@echo "the lines nobody walked: build/coverage/report.html"

install: all
	meson configure build -Dprefix=$(abspath $(PREFIX))
	meson install -C build --no-rebuild

dist:
	@mkdir -p build
	git archive --format=tar.gz --prefix=tidelake-$(VERSION)/ -o build/tidelake-$(VERSION).tar.gz HEAD
	@echo "build/tidelake-$(VERSION).tar.gz"

clean:
	rm -rf build
