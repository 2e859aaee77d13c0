#!/usr/bin/env bash
# The acceptance of MongoDB at its full size, with a release build, against genuine servers.
# The same specifications run small in scripts/test.sh; the two ratios are scripts/bench.sh mongodb.
#
# usage: scripts/acceptance/mongodb.sh [TEST…]    parts of the names of the tests; all if left out
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/../.."
. scripts/shell.sh

# 200,000 events in 20,000 streams of 7 tenants and more under a second type, 5,000 sagas, every command failing in every
# way, an import in place that is killed twenty times, exports beside a writer of 100,000 events.
export REKEY_MONGODB_STREAMS=${REKEY_MONGODB_STREAMS:-20000}
export REKEY_MONGODB_SAGAS=${REKEY_MONGODB_SAGAS:-5000}
export REKEY_MONGODB_WAYS=${REKEY_MONGODB_WAYS:-4}
export REKEY_MONGODB_KILLS=${REKEY_MONGODB_KILLS:-20}
export REKEY_MONGODB_KILL_STREAMS=${REKEY_MONGODB_KILL_STREAMS:-2000}
export REKEY_MONGODB_LIVE_STREAMS=${REKEY_MONGODB_LIVE_STREAMS:-10000}

STATE=$(mktemp -d)
trap 'report_failure; scripts/servers/mongodb.sh stop "$STATE"; rm -rf "$STATE"' EXIT

tests() {
  cargo test --quiet --locked --release --no-default-features --features mongodb --test it "$@"
}

run() {
  tests -- --nocapture --test-threads 1 "${TESTS[@]}"
}

TESTS=("${@/#/on_mongodb::}")
[ ${#TESTS[@]} -gt 0 ] || TESTS=(on_mongodb::)
step 'Rust' find_rust
step 'Release build with MongoDB' tests --no-run
step 'Servers' start_servers_of mongodb "$STATE"
step 'MongoDB' run
