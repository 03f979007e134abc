#!/bin/sh
# tidelake's encrypted connections through FreeTDS and, where it is installed, Microsoft's driver (test_encryption.c).
set -eu
ninja -C "$TIDELAKE_BUILD" --quiet tests/test_e2e_encryption tidesim >&2
status=0
out=$(CMOCKA_MESSAGE_OUTPUT=TAP "$TIDELAKE_BUILD/tests/test_e2e_encryption") || status=$?
printf '%s\n' "$out"
case $out in *"its driver is not installed"*) echo "ok 6 - encryption with Microsoft's driver # SKIP it is not installed" ;; esac
exit "$status"
