#!/bin/sh
# Histories 101 to 300 of sim/history, and every step of sim/history_death, with the release build, which takes a third of
# the time of the sanitized one.
set -eu
ninja -C "$TIDELAKE_BUILD" --quiet tests/test_sim_history tests/test_sim_history_death >&2
[ -z "${TIDELAKE_E2E_SHORT:-}" ] || { echo "1..0 # SKIP the sanitized build has histories of its own"; exit 0; }
export CMOCKA_MESSAGE_OUTPUT=TAP
status=0
TIDELAKE_SEED=${TIDELAKE_SEED:-101} TIDELAKE_SEED_COUNT=${TIDELAKE_SEED_COUNT:-200} "$TIDELAKE_BUILD/tests/test_sim_history" || status=$?
env -u TIDELAKE_SEED -u TIDELAKE_SEED_COUNT TIDELAKE_STRIDE=1 "$TIDELAKE_BUILD/tests/test_sim_history_death" || status=$?
exit "$status"
