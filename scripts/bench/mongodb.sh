#!/usr/bin/env bash
# Compares `rekey export`, `rekey import` and `rekey verify` on a MongoDB replica set with bare loops over the driver, which
# send as many requests at one time.
#
#   export   against read loops that write the driver's own canonical Extended JSON to a file, in no order and
#            without a digest
#   import   against unordered insert_many of a thousand documents each, which are BSON already; the import also reads
#            and checks the whole archive first and keeps a journal
#   verify   against read loops that drop what they read
#
# At least 0.9 of a loop's speed is wanted, and at most 1.2 times the client's CPU time for each document.
#
# usage: scripts/bench.sh mongodb [--delay 20ms]      settings: MONGODB_DOCUMENTS, ROUNDS, BENCH_FEATURES
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/../.."
. scripts/shell.sh
. scripts/bench/way.sh

DOCUMENTS=${MONGODB_DOCUMENTS:-100000}
ROUNDS=${ROUNDS:-5}
TARGET=${CARGO_TARGET_DIR:-$PWD/target}
WORK=$TARGET/bench-mongodb
FEATURES=${BENCH_FEATURES:-mongodb}
REKEY=$TARGET/release/rekey
LOOP=$TARGET/release/examples/mongodb_loop
trap 'report_failure; shorten_way; scripts/servers/mongodb.sh stop "$WORK/servers"; rm -rf "$WORK"' EXIT

build() {
  cargo build --release --locked --no-default-features --features "$FEATURES" --quiet --bin rekey --example mongodb_loop
  "$REKEY" --version
}

server() {
  start_servers_of mongodb "$WORK/servers"
  STORE=$REKEY_TEST_MONGODB_REPLICA_SET
  SERVER_PIDS=$(cat "$WORK/servers/replica-set/pid")
  export SERVER_PIDS
}

# The source, the archives, and for each round a collection with the framework's indexes for either side.
documents() {
  python3 scripts/bench/generate.py "$DOCUMENTS" "$WORK/events.ndjson" sequence
  "$REKEY" restore "$WORK/events.ndjson" --layout mongodb-events --expect-documents "$DOCUMENTS" --to "$STORE" \
    --collection source --create-target --subscribers-handled --quiet >/dev/null
  "$REKEY" export --from "$STORE" --collection source --layout events --out "$WORK/legacy.ndjson" --quiet >/dev/null
  "$REKEY" rekey "$WORK/legacy.ndjson" --out "$WORK/rekeyed.ndjson" --tenant acme --quiet >/dev/null
  "$REKEY" import "$WORK/rekeyed.ndjson" --to "$STORE" --collection moved --create-target --subscribers-handled \
    --quiet >/dev/null
  "$LOOP" dump "$STORE" moved "$WORK/moved.bson"
  local round collections=()
  for round in $(seq "$ROUNDS"); do
    collections+=("rekey-$round" "loop-$round")
  done
  "$LOOP" indexes "$STORE" "${collections[@]}"
  printf '%d documents, %d kB of BSON\n' "$DOCUMENTS" "$(($(wc -c <"$WORK/moved.bson") / 1000))"
}

# usage: compare REKEY-COMMAND LOOP-COMMAND    in both, $ROUND is the number of the round
compare() {
  python3 scripts/bench/measure.py rate "$ROUNDS" "$DOCUMENTS" "rekey=$1" "loop=$2"
}

exports() {
  compare \
    "$(printf '%q export --from %q --collection source --layout events --out %q --quiet >/dev/null' "$REKEY" "$STORE" "$WORK/out.ndjson")" \
    "$(printf '%q export %q source %q' "$LOOP" "$STORE" "$WORK/loop.ndjson")"
}

imports() {
  compare \
    "$(printf '%q import %q --to %q --collection rekey-$ROUND --subscribers-handled --quiet >/dev/null' "$REKEY" "$WORK/rekeyed.ndjson" "$STORE")" \
    "$(printf '%q insert %q loop-$ROUND %q' "$LOOP" "$STORE" "$WORK/moved.bson")"
}

verifies() {
  compare \
    "$(printf '%q verify %q --against %q --collection moved --quiet >/dev/null' "$REKEY" "$WORK/rekeyed.ndjson" "$STORE")" \
    "$(printf '%q scan %q moved' "$LOOP" "$STORE")"
}

way() {
  local near
  near=$(near_server "$STORE")
  lengthen_way "$near"
  STORE=${STORE/$near/$FAR}
}

rm -rf "$WORK"
mkdir -p "$WORK"
step 'Rust' find_rust
step 'Release build with MongoDB' build
step 'Server' server
step 'Documents' documents
step 'Way' way
step 'Export' exports
step 'Import' imports
step 'Verify' verifies
