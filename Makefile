# The front door. Meson and Ninja do the work; docs/building.md explains what stands behind each target.
PREFIX  ?= /usr/local
SECONDS ?= 60
MINUTES ?= 60

# Folders configured again when a meson.build comes or goes; changes inside known ones Ninja sees by itself.
MESON_FILES = $(wildcard meson.build meson_options.txt src/*/meson.build sim/meson.build bench/meson.build \
	tests/meson.build tests/*/meson.build tests/*/*/meson.build)
CONFIGURE = meson setup $(if $(wildcard $(@D)/build.ninja),--reconfigure) $(MESON_FLAGS)
PROGRAMS  = $(patsubst src/cli/main.c,tidelake,$(patsubst sim/main.c,tidesim,$(wildcard src/cli/main.c sim/main.c)))
SANITIZE  = -Db_lundef=false -Db_sanitize=

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

setup:
	@tools/setup

test: setup
	@tools/run-tests

clean:
	rm -rf build

# What is not written yet says so, and fails.
script = @if [ -x $(1) ]; then exec $(1) $(2); else echo "make $@: $(1) is not written yet" >&2; exit 1; fi

demo: setup
	$(call script,demo/run)
bench: setup
	$(call script,bench/run)
interop: setup
	$(call script,tests/interop/run)
interop-all: setup
	$(call script,tests/interop/run,--all)
soak: setup
	$(call script,tests/soak/run,--minutes $(MINUTES))
