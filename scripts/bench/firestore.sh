#!/usr/bin/env bash
# Compares `rekey export` and `rekey import` on Firestore with bare loops over the SDK that send the same requests, as
# many at one time, against the emulator on this machine.
#
# The bare scan drops what it reads, while the export also checks, sorts, digests and writes it; the import also checks
# the whole archive first and keeps a journal. `rekey verify` is compared with the scan. At
# least 0.9 of the loop's speed is wanted, and at most 1.2 times the client's CPU time for each document.
#
# usage: scripts/bench.sh firestore [--delay 20ms]      settings: FIRESTORE_DOCUMENTS, ROUNDS, BENCH_FEATURES
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/../.."
. scripts/shell.sh
. scripts/bench/way.sh

DOCUMENTS=${FIRESTORE_DOCUMENTS:-20000}
ROUNDS=${ROUNDS:-5}
TARGET=${CARGO_TARGET_DIR:-$PWD/target}
WORK=$TARGET/bench-firestore
FEATURES=${BENCH_FEATURES:-firestore}
REKEY=$TARGET/release/rekey
LOOP=$TARGET/release/examples/firestore_loop
trap 'report_failure; shorten_way; scripts/servers/firestore.sh stop "$WORK/servers"' EXIT

build() {
  cargo build --release --locked --no-default-features --features "$FEATURES" --quiet --bin rekey --example firestore_loop
  "$REKEY" --version
}

server() {
  start_servers_of firestore "$WORK/servers"
  export FIRESTORE_EMULATOR_HOST=$REKEY_TEST_FIRESTORE_EMULATOR
}

# The archives, and the collection that is read.
documents() {
  python3 scripts/bench/firestore_events.py "$DOCUMENTS" "$WORK/events.ndjson"
  "$REKEY" restore "$WORK/events.ndjson" --layout firestore-events --expect-documents "$DOCUMENTS" \
    --to firestore://bench-source --collection events --subscribers-handled --quiet >/dev/null
  "$REKEY" export --from firestore://bench-source --collection events --layout events --out "$WORK/legacy.ndjson" \
    --quiet >/dev/null
  "$REKEY" rekey "$WORK/legacy.ndjson" --out "$WORK/rekeyed.ndjson" --tenant acme --quiet >/dev/null
  "$REKEY" import "$WORK/rekeyed.ndjson" --to firestore://bench-moved --collection events --subscribers-handled \
    --quiet >/dev/null
  printf '%d documents, %d kB\n' "$DOCUMENTS" "$(($(wc -c <"$WORK/events.ndjson") / 1000))"
}

# usage: compare REKEY-COMMAND LOOP-COMMAND    in both, $ROUND is the number of the round
compare() {
  python3 scripts/bench/measure.py rate "$ROUNDS" "$DOCUMENTS" "rekey=$1" "loop=$2"
}

exports() {
  compare \
    "$(printf '%q export --from firestore://bench-source --collection events --layout events --out %q --quiet >/dev/null' "$REKEY" "$WORK/out.ndjson")" \
    "$(printf '%q scan bench-source events >/dev/null' "$LOOP")"
}

imports() {
  compare \
    "$(printf '%q import %q --to firestore://bench-rekey-$ROUND --collection events --subscribers-handled --quiet >/dev/null' "$REKEY" "$WORK/rekeyed.ndjson")" \
    "$(printf '%q put bench-loop-$ROUND events %q >/dev/null' "$LOOP" "$WORK/rekeyed.ndjson")"
}

verifies() {
  compare \
    "$(printf '%q verify %q --against firestore://bench-moved --collection events --quiet >/dev/null' "$REKEY" "$WORK/rekeyed.ndjson")" \
    "$(printf '%q scan bench-moved events >/dev/null' "$LOOP")"
}

way() {
  lengthen_way "$FIRESTORE_EMULATOR_HOST"
  export FIRESTORE_EMULATOR_HOST=$FAR
}

rm -rf "$WORK"
mkdir -p "$WORK"
step 'Rust' find_rust
step 'Release build with Firestore' build
step 'Emulator' server
step 'Documents' documents
step 'Way' way
step 'Export' exports
step 'Import' imports
step 'Verify' verifies
