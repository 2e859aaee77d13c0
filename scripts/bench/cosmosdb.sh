#!/usr/bin/env bash
# Compares `rekey export` and `rekey import` on Cosmos DB with bare loops over the SDK that send the same requests, as
# many at one time, against the host in tests/cosmosdb_host on this machine.
#
# The bare scan reads every item, as a value, and every id, as the export does, and drops them, while the export also
# checks, sorts, digests and writes the items; the import also checks the whole archive first and keeps a journal. `rekey
# verify` is compared with the scan. At least 0.9 of the loop's speed is wanted, and at most 1.2 times the client's CPU
# time for each document. The second
# scan never takes an item apart: the least that a reader of the container can do, for comparison.
#
# usage: scripts/bench.sh cosmosdb [--delay 20ms]      settings: COSMOSDB_DOCUMENTS, ROUNDS, BENCH_FEATURES
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/../.."
. scripts/shell.sh
. scripts/bench/way.sh

DOCUMENTS=${COSMOSDB_DOCUMENTS:-20000}
ROUNDS=${ROUNDS:-5}
TARGET=${CARGO_TARGET_DIR:-$PWD/target}
WORK=$TARGET/bench-cosmosdb
FEATURES=${BENCH_FEATURES:-cosmosdb}
REKEY=$TARGET/release/rekey
LOOP=$TARGET/release/examples/cosmosdb_loop
trap 'report_failure; shorten_way; scripts/servers/cosmosdb.sh stop "$WORK/servers"' EXIT

build() {
  cargo build --release --locked --no-default-features --features "$FEATURES" --quiet --bin rekey --example cosmosdb_loop
  "$REKEY" --version
}

server() {
  start_servers_of cosmosdb "$WORK/servers"
  ENDPOINT=$REKEY_TEST_COSMOSDB_ENDPOINT
  STORE="cosmosdb+${ENDPOINT}/bench"
  export COSMOS_KEY=$REKEY_TEST_COSMOSDB_KEY
}

# The archives, and for each round a container for either side.
documents() {
  python3 scripts/bench/cosmosdb_events.py "$DOCUMENTS" "$WORK/events.ndjson"
  "$REKEY" restore "$WORK/events.ndjson" --layout cosmosdb-events --expect-documents "$DOCUMENTS" --to "$STORE" \
    --container bench-source --create-target --subscribers-handled --quiet >/dev/null
  "$REKEY" export --from "$STORE" --container bench-source --layout events --out "$WORK/legacy.ndjson" --quiet >/dev/null
  "$REKEY" rekey "$WORK/legacy.ndjson" --out "$WORK/rekeyed.ndjson" --tenant acme --quiet >/dev/null
  "$REKEY" import "$WORK/rekeyed.ndjson" --to "$STORE" --container bench-moved --create-target --subscribers-handled \
    --quiet >/dev/null
  local round containers=()
  for round in $(seq "$ROUNDS"); do
    containers+=("bench-rekey-$round" "bench-loop-$round")
  done
  "$LOOP" prepare "$ENDPOINT" "${containers[@]}"
  printf '%d documents, %d kB\n' "$DOCUMENTS" "$(($(wc -c <"$WORK/events.ndjson") / 1000))"
}

# usage: compare REKEY-COMMAND LOOP-COMMAND    in both, $ROUND is the number of the round
compare() {
  python3 scripts/bench/measure.py rate "$ROUNDS" "$DOCUMENTS" "rekey=$1" "loop=$2"
}

# usage: exports SCAN
exports() {
  compare \
    "$(printf '%q export --from %q --container bench-source --layout events --out %q --quiet >/dev/null' "$REKEY" "$STORE" "$WORK/out.ndjson")" \
    "$(printf '%q %q %q bench-source >/dev/null' "$LOOP" "$1" "$ENDPOINT")"
}

imports() {
  compare \
    "$(printf '%q import %q --to %q --container bench-rekey-$ROUND --subscribers-handled --quiet >/dev/null' "$REKEY" "$WORK/rekeyed.ndjson" "$STORE")" \
    "$(printf '%q create %q bench-loop-$ROUND %q >/dev/null' "$LOOP" "$ENDPOINT" "$WORK/rekeyed.ndjson")"
}

verifies() {
  compare \
    "$(printf '%q verify %q --against %q --container bench-moved --quiet >/dev/null' "$REKEY" "$WORK/rekeyed.ndjson" "$STORE")" \
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
step 'Release build with Cosmos DB' build
step 'Server' server
step 'Documents' documents
step 'Way' way
step 'Export' exports scan
step 'Export, against texts that nobody looks at' exports skim
step 'Import' imports
step 'Verify' verifies
