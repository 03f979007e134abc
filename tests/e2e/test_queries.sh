#!/bin/sh
# Every query of source/ against tidesim, through FreeTDS and, where it is installed, Microsoft's driver (test_queries.c).
set -eu
ninja -C "$TIDELAKE_BUILD" --quiet tests/test_e2e_queries tidesim >&2
status=0
out=$(CMOCKA_MESSAGE_OUTPUT=TAP "$TIDELAKE_BUILD/tests/test_e2e_queries") || status=$?
printf '%s\n' "$out"
case $out in *"its driver is not installed"*) echo "ok 15 - queries through Microsoft's driver # SKIP it is not installed" ;; esac
exit "$status"
