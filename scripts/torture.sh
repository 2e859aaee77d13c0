#!/usr/bin/env bash
# Kills every command thirty times at random moments, runs it again to the end, and compares every document with those of
# a run that nobody stopped. Ends with a table for embedded storage, what the tests of each server saw, and the seed.
#
# The scenes are those of tests/it/kill.rs and of each server's own tests; scripts/test.sh runs them with a few kills. The
# seed chooses the moments as shares of the time that the command takes; how far it then is, the machine decides.
#
# usage: scripts/torture.sh [STORE…]     embedded, cosmosdb, dynamodb, firestore, mongodb; all if left out
#          REKEY_SEED    the seed; another one each time if not set
#          REKEY_KILLS   how often each command is killed: 30
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
. scripts/shell.sh

KILLS=${REKEY_KILLS:-30}
export REKEY_KILLS=$KILLS REKEY_SEED=${REKEY_SEED:-$RANDOM}
export REKEY_COSMOSDB_KILLS=$KILLS REKEY_DYNAMODB_KILLS=$KILLS REKEY_FIRESTORE_KILLS=$KILLS REKEY_MONGODB_KILLS=$KILLS

usage() {
  printf 'usage: scripts/torture.sh [embedded|cosmosdb|dynamodb|firestore|mongodb]...\n' >&2
  exit 2
}

STORES=("$@")
[ ${#STORES[@]} -gt 0 ] || STORES=(embedded cosmosdb dynamodb firestore mongodb)
for store in "${STORES[@]}"; do
  case "$store" in embedded | cosmosdb | dynamodb | firestore | mongodb) ;; *) usage ;; esac
done

STATE=$(mktemp -d)
STARTED=()

stop_servers() {
  local store
  for store in "${STARTED[@]}"; do
    "scripts/servers/$store.sh" stop "$STATE/$store" || true
  done
  rm -rf "$STATE"
}
trap 'report_failure; stop_servers' EXIT

# The tests of one store, by parts of their names; what they say goes to the log that the table is made of.
# usage: tortured FEATURES NAME…
tortured() {
  local features=$1
  shift
  cargo test --quiet --locked --no-default-features --features "$features" --test it -- \
    --nocapture --test-threads 1 "$@" 2>&1 | tee -a "$STATE/log"
}

torture_embedded() {
  tortured faults kill::
}

torture_server() {
  local store=$1
  STARTED+=("$store")
  start_servers_of "$store" "$STATE/$store"
  case "$store" in
    mongodb) tortured "faults,$store" "on_$store::failures::an_import_in_place_that_was_killed" ;;
    *) tortured "faults,$store" "on_$store::kill::" ;;
  esac
}

# The rows that the tests printed; the dots of the test runner stand before some of them.
table() {
  printf '| command | store | killed | lost | doubled | changed |\n|---|---|---|---|---|---|\n'
  sed -nE 's/^\.*(\|.*\|)$/\1/p' "$STATE/log"
  # What a server's test says it saw.
  grep -E 'killed .*the same end' "$STATE/log" | sed -E 's/^\.+//' || true
  printf 'seed %s\n' "$REKEY_SEED"
}

printf 'REKEY_SEED=%s, %s kills\n' "$REKEY_SEED" "$KILLS"
step 'Rust' find_rust
step 'C compiler' find_c_compiler
for store in "${STORES[@]}"; do
  if [ "$store" = embedded ]; then
    step 'Embedded storage' torture_embedded
  else
    step "$store" torture_server "$store"
  fi
done
step 'What was found' table
