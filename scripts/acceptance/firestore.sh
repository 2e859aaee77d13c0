#!/usr/bin/env bash
# The acceptance of Firestore at its full size, with a release build, against Google's own emulator.
# The same specifications run small in scripts/test.sh; the two ratios are scripts/bench.sh firestore.
# It takes half an hour: the emulator looks at the whole collection for every stream that verify reads.
#
# usage: scripts/acceptance/firestore.sh [TEST…]    parts of the names of the tests; all if left out
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/../.."
. scripts/shell.sh

# 20,000 events in 2,000 streams of 7 tenants and 2,000 sagas, 500 documents rewritten during an export, every command
# cut off and killed ten times.
export REKEY_FIRESTORE_STREAMS=${REKEY_FIRESTORE_STREAMS:-2000}
export REKEY_FIRESTORE_SAGAS=${REKEY_FIRESTORE_SAGAS:-2000}
export REKEY_FIRESTORE_WRITTEN=${REKEY_FIRESTORE_WRITTEN:-500}
export REKEY_FIRESTORE_FAULTY_STREAMS=${REKEY_FIRESTORE_FAULTY_STREAMS:-200}
export REKEY_FIRESTORE_CUTS=${REKEY_FIRESTORE_CUTS:-10}
export REKEY_FIRESTORE_KILL_STREAMS=${REKEY_FIRESTORE_KILL_STREAMS:-200}
export REKEY_FIRESTORE_KILLS=${REKEY_FIRESTORE_KILLS:-10}

STATE=$(mktemp -d)
trap 'report_failure; scripts/servers/firestore.sh stop "$STATE"; rm -rf "$STATE"' EXIT

# Faults are for the tests that shorten the patience of the tool; they change nothing else.
tests() {
  cargo test --quiet --locked --release --no-default-features --features faults,firestore --test it "$@"
}

run() {
  tests -- --nocapture --test-threads 1 "${TESTS[@]}"
}

TESTS=("${@/#/on_firestore::}")
[ ${#TESTS[@]} -gt 0 ] || TESTS=(on_firestore::)
step 'Rust' find_rust
step 'Release build with Firestore' tests --no-run
step 'Emulator' start_servers_of firestore "$STATE"
step 'Firestore' run
