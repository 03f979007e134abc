#!/bin/sh
# Histories 31 to 300 of sim/history and every step of sim/history_death and sim/backfill_crash, two programs at a time, with the
# release build, which takes a third of the time of the sanitized one. TIDELAKE_SEED and TIDELAKE_SEED_COUNT run other histories alone.
set -eu
ninja -C "$TIDELAKE_BUILD" --quiet tests/test_sim_history tests/test_sim_history_death tests/test_sim_backfill_crash >&2
[ -z "${TIDELAKE_E2E_SHORT:-}" ] || { echo "1..0 # SKIP the sanitized build has histories of its own"; exit 0; }
export CMOCKA_MESSAGE_OUTPUT=TAP
out=$(mktemp)
trap 'rm -f "$out"' EXIT

live() { TIDELAKE_SEED=$1 TIDELAKE_SEED_COUNT=$2 "$TIDELAKE_BUILD/tests/test_sim_history"; }
# shellcheck disable=SC2317 # called by both
die() { TIDELAKE_STRIDE=1 "$TIDELAKE_BUILD/tests/$1"; }

status=0
# Runs two commands side by side.
both() {
  $1 >"$out" 2>&1 &
  $2 || status=$?
  wait $! || status=$?
  cat "$out"
}

if [ -n "${TIDELAKE_SEED:-}" ]; then
  live "$TIDELAKE_SEED" "${TIDELAKE_SEED_COUNT:-1}" || status=$?
else
  both "live 31 135" "live 166 135"
  both "die test_sim_backfill_crash" "die test_sim_history_death"
fi
exit "$status"
