#!/bin/sh
# Every query of source/ against tidesim, through FreeTDS and, where it is installed, Microsoft's driver (test_queries.c).
set -eu
ninja -C "$TIDELAKE_BUILD" --quiet tests/test_e2e_queries tidesim >&2
CMOCKA_MESSAGE_OUTPUT=TAP exec "$TIDELAKE_BUILD/tests/test_e2e_queries"
