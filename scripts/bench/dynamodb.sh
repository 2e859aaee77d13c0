#!/usr/bin/env bash
# Compares `rekey export` and conditional `rekey import` on DynamoDB with bare loops over the SDK that send the same
# requests, as many at one time, against a server on this machine.
#
# The bare scan drops what it reads, while the export also checks, sorts, digests and writes it; the import also checks
# the whole archive first and keeps a journal. `rekey verify` is compared with the scan. At
# least 0.9 of the loop's speed is wanted, and at most 1.2 times the client's CPU time for each document.
#
# usage: scripts/bench.sh dynamodb [--delay 20ms]      settings: DYNAMODB_DOCUMENTS, ROUNDS, BENCH_FEATURES
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/../.."
. scripts/shell.sh
. scripts/bench/way.sh

DOCUMENTS=${DYNAMODB_DOCUMENTS:-20000}
ROUNDS=${ROUNDS:-5}
TARGET=${CARGO_TARGET_DIR:-$PWD/target}
WORK=$TARGET/bench-dynamodb
FEATURES=${BENCH_FEATURES:-dynamodb}
REKEY=$TARGET/release/rekey
LOOP=$TARGET/release/examples/dynamodb_loop
trap 'report_failure; shorten_way; scripts/servers/dynamodb.sh stop "$WORK/servers"' EXIT

build() {
  cargo build --release --locked --no-default-features --features "$FEATURES" --quiet --bin rekey --example dynamodb_loop
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
  "$REKEY" import "$WORK/rekeyed.ndjson" --to "$STORE" --collection bench-moved --create-target --quiet >/dev/null
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

verifies() {
  compare \
    "$(printf '%q verify %q --against %q --collection bench-moved --quiet >/dev/null' "$REKEY" "$WORK/rekeyed.ndjson" "$STORE")" \
    "$(printf '%q scan %q bench-moved >/dev/null' "$LOOP" "$ENDPOINT")"
}

way() {
  local near
  near=$(near_server "$ENDPOINT")
  lengthen_way "$near"
  ENDPOINT=${ENDPOINT/$near/$FAR} STORE=${STORE/$near/$FAR}
}

rm -rf "$WORK"
mkdir -p "$WORK"
step 'Rust' find_rust
step 'Release build with DynamoDB' build
step 'Server' server
step 'Documents' documents
step 'Way' way
step 'Export' exports
step 'Conditional import' imports
step 'Verify' verifies
