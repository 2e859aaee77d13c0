#!/usr/bin/env bash
# The acceptance of DynamoDB at its full size, with a release build, against dynoxide and dynalite.
# The same specifications run small in scripts/test.sh; the two ratios are scripts/bench.sh dynamodb.
#
# usage: scripts/acceptance/dynamodb.sh [TEST…]    parts of the names of the tests; all if left out
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/../.."
. scripts/shell.sh

# 50,000 events in 5,000 streams of 7 tenants, 2,000 sagas beside 500 snapshots, every command killed ten times, the
# rate of writes watched for 60 seconds of which the first five are left out.
export REKEY_DYNAMODB_STREAMS=${REKEY_DYNAMODB_STREAMS:-5000}
export REKEY_DYNAMODB_SAGAS=${REKEY_DYNAMODB_SAGAS:-2000}
export REKEY_DYNAMODB_SNAPSHOTS=${REKEY_DYNAMODB_SNAPSHOTS:-500}
export REKEY_DYNAMODB_FAULTY_STREAMS=${REKEY_DYNAMODB_FAULTY_STREAMS:-5000}
export REKEY_DYNAMODB_KILL_STREAMS=${REKEY_DYNAMODB_KILL_STREAMS:-500}
export REKEY_DYNAMODB_KILLS=${REKEY_DYNAMODB_KILLS:-10}
export REKEY_DYNAMODB_SECONDS=${REKEY_DYNAMODB_SECONDS:-60}

STATE=$(mktemp -d)
trap 'report_failure; scripts/servers/dynamodb.sh stop "$STATE"; rm -rf "$STATE"' EXIT

# Faults are for the tests that shorten the patience of the tool; they change nothing else.
tests() {
  cargo test --quiet --locked --release --no-default-features --features faults,dynamodb --test it "$@"
}

run() {
  tests -- --nocapture --test-threads 1 "${TESTS[@]}"
}

TESTS=("${@/#/on_dynamodb::}")
[ ${#TESTS[@]} -gt 0 ] || TESTS=(on_dynamodb::)
step 'Rust' find_rust
step 'Release build with DynamoDB' tests --no-run
step 'Servers' start_servers_of dynamodb "$STATE"
step 'DynamoDB' run
