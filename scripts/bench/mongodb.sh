#!/usr/bin/env bash
# Compares `rekey export` and `rekey import` on a MongoDB replica set with bare loops over the driver.
#
#   export   against a read loop that writes the driver's own canonical Extended JSON to a file, in no order and
#            without a digest; at least 1.2 of its speed is wanted
#   import   against unordered insert_many of a thousand documents each, which are BSON already; the import also reads
#            and checks the whole archive first and keeps a journal; at least 0.75 of its speed is wanted
#
# usage: scripts/bench/mongodb.sh      settings: MONGODB_DOCUMENTS, ROUNDS
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/../.."
. scripts/shell.sh

DOCUMENTS=${MONGODB_DOCUMENTS:-100000}
ROUNDS=${ROUNDS:-5}
TARGET=${CARGO_TARGET_DIR:-$PWD/target}
WORK=$TARGET/bench-mongodb
REKEY=$TARGET/release/rekey
LOOP=$TARGET/release/examples/mongodb_loop
trap 'report_failure; scripts/servers/mongodb.sh stop "$WORK/servers"; rm -rf "$WORK"' EXIT

build() {
  cargo build --release --locked --no-default-features --features mongodb --quiet --bin rekey --example mongodb_loop
  "$REKEY" --version
}

server() {
  start_servers_of mongodb "$WORK/servers"
  STORE=$REKEY_TEST_MONGODB_REPLICA_SET
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

rm -rf "$WORK"
mkdir -p "$WORK"
step 'Rust' find_rust
step 'Release build with MongoDB' build
step 'Server' server
step 'Documents' documents
step 'Export' exports
step 'Import' imports
