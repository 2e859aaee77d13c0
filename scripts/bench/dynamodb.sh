#!/usr/bin/env bash
# Compares `rekey export` and conditional `rekey import` on DynamoDB with bare loops over the SDK that send the same
# requests, as many at one time, against a server on this machine.
#
# The bare scan drops what it reads, while the export also checks, sorts, digests and writes it; the import also checks
# the whole archive first and keeps a journal. At least 0.75 of the loop's speed is wanted, and at most 1.4 times the
# client's CPU time for each document.
#
# usage: scripts/bench.sh dynamodb      settings: DYNAMODB_DOCUMENTS, ROUNDS
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/../.."
. scripts/shell.sh

DOCUMENTS=${DYNAMODB_DOCUMENTS:-20000}
ROUNDS=${ROUNDS:-5}
TARGET=${CARGO_TARGET_DIR:-$PWD/target}
WORK=$TARGET/bench-dynamodb
REKEY=$TARGET/release/rekey
LOOP=$TARGET/release/examples/dynamodb_loop
trap 'report_failure; scripts/servers/dynamodb.sh stop "$WORK/servers"' EXIT

build() {
  cargo build --release --locked --no-default-features --features dynamodb --quiet --bin rekey --example dynamodb_loop
  "$REKEY" --version
}

server() {
  start_servers_of dynamodb "$WORK/servers"
  ENDPOINT=$REKEY_TEST_DYNAMODB_DYNOXIDE
  STORE="dynamodb://eu-central-1?endpoint=$ENDPOINT"
  export AWS_ACCESS_KEY_ID=bench AWS_SECRET_ACCESS_KEY=bench AWS_EC2_METADATA_DISABLED=true
  export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null
}

# The archives, and for each round a table for either side that holds one item, so that every write is conditional.
documents() {
  python3 scripts/bench/dynamodb_events.py "$DOCUMENTS" "$WORK/events.ndjson"
  "$REKEY" restore "$WORK/events.ndjson" --layout dynamodb-events --expect-documents "$DOCUMENTS" --to "$STORE" \
    --collection bench-source --create-target --quiet >/dev/null
  "$REKEY" export --from "$STORE" --collection bench-source --layout events --out "$WORK/legacy.ndjson" --quiet >/dev/null
  "$REKEY" rekey "$WORK/legacy.ndjson" --out "$WORK/rekeyed.ndjson" --tenant acme --quiet >/dev/null
  local round tables=()
  for round in $(seq "$ROUNDS"); do
    tables+=("bench-rekey-$round" "bench-loop-$round")
  done
  "$LOOP" prepare "$ENDPOINT" "${tables[@]}"
  printf '%d documents, %d kB\n' "$DOCUMENTS" "$(($(wc -c <"$WORK/events.ndjson") / 1000))"
}

# usage: compare REKEY-COMMAND LOOP-COMMAND    in both, $ROUND is the number of the round
compare() {
  python3 scripts/bench/measure.py rate "$ROUNDS" "$DOCUMENTS" "rekey=$1" "loop=$2"
}

exports() {
  compare \
    "$(printf '%q export --from %q --collection bench-source --layout events --out %q --quiet >/dev/null' "$REKEY" "$STORE" "$WORK/out.ndjson")" \
    "$(printf '%q scan %q bench-source >/dev/null' "$LOOP" "$ENDPOINT")"
}

imports() {
  compare \
    "$(printf '%q import %q --to %q --collection bench-rekey-$ROUND --quiet >/dev/null' "$REKEY" "$WORK/rekeyed.ndjson" "$STORE")" \
    "$(printf '%q put %q bench-loop-$ROUND %q >/dev/null' "$LOOP" "$ENDPOINT" "$WORK/rekeyed.ndjson")"
}

rm -rf "$WORK"
mkdir -p "$WORK"
step 'Rust' find_rust
step 'Release build with DynamoDB' build
step 'Server' server
step 'Documents' documents
step 'Export' exports
step 'Conditional import' imports
