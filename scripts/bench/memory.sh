#!/usr/bin/env bash
# The peak memory of every verb, with so many documents and with a tenth of them: it must stay below 300 MB, and the
# larger one within 10 % of the smaller.
#
# `embedded` is a local file with the rules of MongoDB. The others are the servers of the tests; what they keep in memory
# themselves bounds how many documents they take.
#
# usage: scripts/bench.sh memory [STORE]...      settings: MEMORY_DOCUMENTS, BENCH_FEATURES
#        STORE is embedded (the default), mongodb, dynamodb, firestore or cosmosdb
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/../.."
. scripts/shell.sh

TARGET=${CARGO_TARGET_DIR:-$PWD/target}
WORK=$TARGET/bench-memory
REKEY=$TARGET/release/rekey
STORES=("${@:-embedded}")
STARTED=()

stop_servers() {
  local store
  for store in "${STARTED[@]}"; do
    "scripts/servers/$store.sh" stop "$WORK/servers/$store" || true
  done
  rm -rf "$WORK"
}
trap 'report_failure; stop_servers' EXIT

build() {
  local features
  features=$(printf '%s\n' "${STORES[@]}" | grep -vx embedded | paste -s -d, - || true)
  cargo build --release --locked --no-default-features --features "${BENCH_FEATURES:-$features}" --quiet --bin rekey
  "$REKEY" --version
}

server() {
  [ "$1" != embedded ] || return 0
  STARTED+=("$1")
  start_servers_of "$1" "$WORK/servers/$1"
}

# usage: standard_size STORE
standard_size() {
  case "$1" in
    embedded) echo 20000000 ;;
    mongodb) echo 2000000 ;;
    *) echo 200000 ;;
  esac
}

# usage: address STORE DOCUMENTS ROLE    the store of the source or the target; each size has its own
address() {
  case "$1" in
    embedded) printf 'embedded:%s/%s-%s.redb?as=mongodb' "$WORK" "$3" "$2" ;;
    mongodb) printf '%s' "$REKEY_TEST_MONGODB_REPLICA_SET" ;;
    dynamodb) printf 'dynamodb://eu-central-1?endpoint=%s' "$REKEY_TEST_DYNAMODB_DYNOXIDE" ;;
    firestore) printf 'firestore://%s-%s' "$3" "$2" ;;
    cosmosdb) printf 'cosmosdb+%s/bench' "$REKEY_TEST_COSMOSDB_ENDPOINT" ;;
  esac
}

credentials() {
  export AWS_ACCESS_KEY_ID=bench AWS_SECRET_ACCESS_KEY=bench AWS_EC2_METADATA_DISABLED=true
  export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null
  export FIRESTORE_EMULATOR_HOST=${REKEY_TEST_FIRESTORE_EMULATOR:-} COSMOS_KEY=${REKEY_TEST_COSMOSDB_KEY:-}
}

# usage: generate STORE DOCUMENTS FILE
generate() {
  case "$1" in
    embedded | mongodb) python3 scripts/bench/generate.py "$2" "$3" sequence ;;
    *) python3 "scripts/bench/$1_events.py" "$2" "$3" ;;
  esac
}

# usage: command_of STORE DOCUMENTS VERB    the command of one verb
command_of() {
  local store=$1 documents=$2 layout=$1 source target
  source=$(address "$store" "$documents" source)
  target=$(address "$store" "$documents" target)
  local files=$WORK/$documents handled=(--subscribers-handled) create=(--create-target)
  [ "$store" != embedded ] || layout=mongodb
  [ "$store" != dynamodb ] || handled=()
  [ "$store" != firestore ] || create=()
  case "$3" in
    restore) set -- restore "$files.events" --layout "$layout-events" --expect-documents "$documents" --to "$source" \
      --collection "source-$documents" "${create[@]}" "${handled[@]}" ;;
    export) set -- export --from "$source" --collection "source-$documents" --layout events --out "$files.legacy" ;;
    rekey) set -- rekey "$files.legacy" --tenant acme --out "$files.rekeyed" ;;
    rekey-map) set -- rekey "$files.legacy" --tenant-map "$WORK/tenants.csv" --out "$files.by-map" ;;
    import) set -- import "$files.rekeyed" --to "$target" --collection "target-$documents" "${create[@]}" "${handled[@]}" ;;
    verify) set -- verify "$files.rekeyed" --against "$target" --collection "target-$documents" --legacy "$files.legacy" ;;
    prune) set -- prune "$files.legacy" --rekeyed "$files.rekeyed" --from "$source" --collection "source-$documents" \
      --twins-in "$target" --twins-collection "target-$documents" ;;
    restore-again) set -- restore "$files.legacy" --to "$source" --collection "source-$documents" "${handled[@]}" ;;
    undo) set -- undo "$files.rekeyed" --from "$target" --collection "target-$documents" --legacy-in "$source" \
      --legacy-collection "source-$documents" ;;
  esac
  printf '%q ' "$REKEY" "$@" --quiet
  printf '>/dev/null'
}

# Seven tenants, by the last digit of a stream.
seven_tenants() {
  local digit
  printf 'key,tenant,type,match\n'
  for digit in {0..9}; do
    printf '.*%d,tenant-%d,,regex\n' "$digit" "$((digit % 7 + 1))"
  done
}

# usage: verbs STORE    every verb at both sizes, in the order of a migration
verbs() {
  local store=$1 large small documents verb
  large=${MEMORY_DOCUMENTS:-$(standard_size "$1")}
  small=$((large / 10))
  for documents in "$small" "$large"; do
    generate "$store" "$documents" "$WORK/$documents.events"
  done
  for verb in restore export rekey rekey-map import verify prune restore-again undo; do
    python3 scripts/bench/measure.py memory \
      "$verb $small=$(command_of "$store" "$small" "$verb")" "$verb $large=$(command_of "$store" "$large" "$verb")"
  done
}

rm -rf "$WORK"
mkdir -p "$WORK"
step 'Rust' find_rust
step 'Release build' build
seven_tenants >"$WORK/tenants.csv"
for store in "${STORES[@]}"; do
  step "Server: $store" server "$store"
  credentials
  step "Peak memory: $store" verbs "$store"
done
