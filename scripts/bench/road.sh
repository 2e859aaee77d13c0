#!/usr/bin/env bash
# The whole road on a MongoDB replica set (export, rekey, import, verify) against scripts/bench/naive.py, which reads all
# events, changes their keys and inserts them, with pymongo, and checks and proves nothing.
#
# The server's CPU time is told, too: what both leave it to do is the same.
#
# usage: scripts/bench.sh road [--delay 20ms]      settings: ROAD_DOCUMENTS, ROUNDS, BENCH_FEATURES
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/../.."
. scripts/shell.sh
. scripts/bench/way.sh

DOCUMENTS=${ROAD_DOCUMENTS:-1000000}
ROUNDS=${ROUNDS:-3}
TARGET=${CARGO_TARGET_DIR:-$PWD/target}
WORK=$TARGET/bench-road
FEATURES=${BENCH_FEATURES:-mongodb}
REKEY=$TARGET/release/rekey
PYMONGO=pymongo==4.15.5
trap 'report_failure; shorten_way; scripts/servers/mongodb.sh stop "$WORK/servers"; rm -rf "$WORK"' EXIT

build() {
  cargo build --release --locked --no-default-features --features "$FEATURES" --quiet --bin rekey
  "$REKEY" --version
}

python_driver() {
  python3 -m venv "$WORK/venv"
  "$WORK/venv/bin/pip" install --quiet --disable-pip-version-check "$PYMONGO"
  "$WORK/venv/bin/python3" -c 'import bson, pymongo, sys; print("Python", sys.version.split()[0], "pymongo", pymongo.version, "in C:", bson.has_c())'
}

server() {
  start_servers_of mongodb "$WORK/servers"
  STORE=$REKEY_TEST_MONGODB_REPLICA_SET
  SERVER_PIDS=$(cat "$WORK/servers/replica-set/pid")
  export SERVER_PIDS
}

documents() {
  python3 scripts/bench/generate.py "$DOCUMENTS" "$WORK/events.ndjson" sequence
  "$REKEY" restore "$WORK/events.ndjson" --layout mongodb-events --expect-documents "$DOCUMENTS" --to "$STORE" \
    --collection source --create-target --subscribers-handled --quiet >/dev/null
  rm "$WORK/events.ndjson"
}

way() {
  local near
  near=$(near_server "$STORE")
  lengthen_way "$near"
  STORE=${STORE/$near/$FAR}
}

road() {
  local here
  here=$(printf '%q' "$WORK")
  printf '%q ' "$REKEY" export --from "$STORE" --collection source --layout events --out "$WORK/legacy.ndjson" --quiet
  printf '>%s/export.out && ' "$here"
  printf '%q ' "$REKEY" rekey "$WORK/legacy.ndjson" --out "$WORK/rekeyed.ndjson" --tenant acme --quiet
  printf '>%s/rekey.out && ' "$here"
  printf '%q ' "$REKEY" import "$WORK/rekeyed.ndjson" --to "$STORE" --create-target --subscribers-handled --quiet
  # shellcheck disable=SC2016 # the number of the round is put in later
  printf -- '--collection road-$ROUND >%s/import.out && ' "$here"
  printf '%q ' "$REKEY" verify "$WORK/rekeyed.ndjson" --against "$STORE" --quiet
  # shellcheck disable=SC2016
  printf -- '--collection road-$ROUND >%s/verify.out' "$here"
}

compare() {
  printf '%d documents, %d rounds\n' "$DOCUMENTS" "$ROUNDS"
  python3 scripts/bench/measure.py rate "$ROUNDS" "$DOCUMENTS" "road=$(road)" \
    "naive=$(printf '%q scripts/bench/naive.py %q source naive-$ROUND acme' "$WORK/venv/bin/python3" "$STORE")"
}

rm -rf "$WORK"
mkdir -p "$WORK"
step 'Rust' find_rust
step 'Release build with MongoDB' build
step 'pymongo' python_driver
step 'Server' server
step 'Documents' documents
step 'Way' way
step 'The road against the script' compare
