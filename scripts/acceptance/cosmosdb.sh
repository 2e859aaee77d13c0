#!/usr/bin/env bash
# The acceptance of Cosmos DB at its full size, with a release build, against the host in tests/cosmosdb_host.
# The same specifications run small in scripts/test.sh; the two ratios are scripts/bench.sh cosmosdb.
#
# usage: scripts/acceptance/cosmosdb.sh [TEST…]    parts of the names of the tests; all if left out
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/../.."
. scripts/shell.sh

# 20,000 events in 2,000 streams of 7 tenants over four partitions of which one is split during the export, 2,000
# sagas, 5,000 items with hierarchical keys, every command killed ten times, the rate watched for 60 seconds of which
# the first five are left out.
export REKEY_COSMOSDB_STREAMS=${REKEY_COSMOSDB_STREAMS:-2000}
export REKEY_COSMOSDB_SAGAS=${REKEY_COSMOSDB_SAGAS:-2000}
export REKEY_COSMOSDB_ITEMS=${REKEY_COSMOSDB_ITEMS:-5000}
export REKEY_COSMOSDB_FAULTY_STREAMS=${REKEY_COSMOSDB_FAULTY_STREAMS:-2000}
export REKEY_COSMOSDB_KILL_STREAMS=${REKEY_COSMOSDB_KILL_STREAMS:-200}
export REKEY_COSMOSDB_KILLS=${REKEY_COSMOSDB_KILLS:-10}
export REKEY_COSMOSDB_SECONDS=${REKEY_COSMOSDB_SECONDS:-60}

STATE=$(mktemp -d)
trap 'report_failure; scripts/servers/cosmosdb.sh stop "$STATE"; rm -rf "$STATE"' EXIT

# Faults are for the tests that shorten the patience of the tool; they change nothing else.
tests() {
  cargo test --quiet --locked --release --no-default-features --features faults,cosmosdb --test it "$@"
}

run() {
  tests -- --nocapture --test-threads 1 "${TESTS[@]}"
}

TESTS=("${@/#/on_cosmosdb::}")
[ ${#TESTS[@]} -gt 0 ] || TESTS=(on_cosmosdb::)
step 'Rust' find_rust
step 'Release build with Cosmos DB' tests --no-run
step 'Servers' start_servers_of cosmosdb "$STATE"
step 'Cosmos DB' run
