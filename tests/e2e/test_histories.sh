#!/bin/sh
# Histories 101 to 300 of sim/history with the release build, which takes a third of the time of the sanitized one.
set -eu
ninja -C "$TIDELAKE_BUILD" --quiet tests/test_sim_history >&2
[ -z "${TIDELAKE_E2E_SHORT:-}" ] || { echo "1..0 # SKIP the sanitized build has histories of its own"; exit 0; }
CMOCKA_MESSAGE_OUTPUT=TAP TIDELAKE_SEED=${TIDELAKE_SEED:-101} TIDELAKE_SEED_COUNT=${TIDELAKE_SEED_COUNT:-200} \
  exec "$TIDELAKE_BUILD/tests/test_sim_history"
