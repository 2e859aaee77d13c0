#!/usr/bin/env bash
# Compares `rekey rekey` with the tools one would reach for instead, and shows that its memory does not grow.
#
#   sed          one blind substitution a line: no check, no digest, no key map, no order
#   sed-capture  the same with the key matched and put back, as a key with something behind the tenant needs it
#   jq           the same edit by a parser; it re-spells numbers on the way
#
# Only ratios taken on one machine mean anything; they are printed with the processor they were taken on.
# Needs bash, python3 (3.11 or later), sed, jq, awk and Rust.
#
# usage: scripts/bench.sh                          settings: DOCUMENTS, ROUNDS, SMALL, LARGE, BENCH_FEATURES
#        scripts/bench.sh STORE [--delay 20ms]     a store against bare loops over its SDK (cosmosdb, dynamodb,
#                                                  firestore, mongodb), also with so much added to every round trip
#        scripts/bench.sh road                     the whole road on MongoDB against a straightforward script
#        scripts/bench.sh memory [STORE]...        the peak memory of every verb (embedded if no store is named)
#        each says its settings at the top of scripts/bench/NAME.sh
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
. scripts/shell.sh

# Hands over to scripts/bench/NAME.sh.
hand_over() {
  local name=$1
  shift
  if [[ ${1:-} = --delay && ${2:-} =~ ^([0-9]+)ms$ ]]; then
    export DELAY_MS=${BASH_REMATCH[1]}
    shift 2
  fi
  if [ ! -x "scripts/bench/$name.sh" ]; then
    sed -n '/^# usage/,/^set/{/^#/p}' scripts/bench.sh >&2
    exit 2
  fi
  exec "scripts/bench/$name.sh" "$@"
}

if [ $# -gt 0 ]; then
  hand_over "$@"
fi
trap report_failure EXIT

DOCUMENTS=${DOCUMENTS:-500000}
ROUNDS=${ROUNDS:-5}
SMALL=${SMALL:-100000}
LARGE=${LARGE:-2000000}
FEATURES=${BENCH_FEATURES:-}
TARGET=${CARGO_TARGET_DIR:-$PWD/target}
WORK=$TARGET/bench
REKEY=$TARGET/release/rekey

processor() {
  awk -F': *' '
    /^model name/ && !model { model = $2 }
    /^flags/ && !flags { flags = $2 }
    /^processor/ { cores++ }
    END {
      printf "%s, %d cores, SHA instructions: %s\n", model ? model : "unknown processor", cores,
        flags ~ /(^| )sha_ni( |$)/ ? "yes (sha_ni)" : "no"
    }' /proc/cpuinfo
}

needed() {
  local tool
  for tool in python3 sed jq awk; do
    command -v "$tool" >/dev/null || { printf '%s is needed and was not found.\n' "$tool" >&2; return 1; }
  done
  processor
  sed --version | sed -n 1p
  jq --version
}

build() {
  cargo build --release --locked --no-default-features --features "$FEATURES" --quiet --bin rekey
  "$REKEY" --version
}

# usage: archive DOCUMENTS ORDER    makes the file if it is not there, and prints its name
#
# In stream order it gets a manifest, as an export has; in the order of insertion none, as mongoexport leaves it.
archive() {
  local file="$WORK/$2-$1.ndjson"
  if [ ! -e "$file" ]; then
    python3 scripts/bench/generate.py "$1" "$file" "$2"
    if [ "$2" = stream ]; then
      "$REKEY" rekey "$file" --layout mongodb-events --expect-documents "$1" --tenant acme --out "$WORK/first.ndjson" \
        --quiet >/dev/null
      python3 scripts/bench/manifest.py "$file" "$WORK/first.ndjson.manifest.json"
      rm "$WORK"/first.ndjson*
    fi
  fi
  printf '%s' "$file"
}

# usage: rekey_command DOCUMENTS ORDER    the command that moves an archive to tenant acme
rekey_command() {
  local file
  file=$(archive "$1" "$2")
  printf '%q rekey %q --tenant acme --out %q --quiet >/dev/null' "$REKEY" "$file" "$WORK/out.ndjson"
  if [ ! -e "$file.manifest.json" ]; then
    printf ' --layout mongodb-events --expect-documents %d' "$1"
  fi
}

# usage: seven_tenants DOCUMENTS FILE    a map that gives each stream of a generated archive one of seven tenants
seven_tenants() {
  awk -v streams="$((($1 + 11) / 12))" 'BEGIN {
    print "key,tenant"
    for (stream = 0; stream < streams; stream++) printf "A-%09d,tenant-%d\n", stream, stream % 7 + 1
  }' >"$2"
}

speed() {
  local file rekey sed capture jq by_map
  file=$(archive "$DOCUMENTS" stream)
  rekey=$(rekey_command "$DOCUMENTS" stream)
  sed=$(printf "LC_ALL=C sed 's/\"streamId\":\"/\"streamId\":\"t:acme:/' %q > %q" "$file" "$WORK/sed.ndjson")
  capture=$(printf "LC_ALL=C sed -E 's/\"streamId\":\"([^\"]*)\"/\"streamId\":\"t:acme:\\\\1\"/' %q > %q" "$file" \
    "$WORK/sed-capture.ndjson")
  jq=$(printf "jq -c '.streamId = \"t:acme:\" + .streamId' %q > %q" "$file" "$WORK/jq.ndjson")
  printf '%d documents, %d MB, %d rounds\n' "$DOCUMENTS" "$(($(wc -c <"$file") / 1000000))" "$ROUNDS"
  python3 scripts/bench/measure.py time "$ROUNDS" "rekey=$rekey" "sed=$sed" "sed-capture=$capture" "jq=$jq"
  cmp "$WORK/out.ndjson" "$WORK/sed.ndjson"
  cmp "$WORK/out.ndjson" "$WORK/sed-capture.ndjson"
  printf 'The outputs of rekey and of both seds are the same bytes.\n'
  seven_tenants "$DOCUMENTS" "$WORK/tenants.csv"
  by_map=${rekey/--tenant acme/--tenant-map $WORK/tenants.csv}
  printf 'Seven tenants by map, which sorts everything anew:\n'
  python3 scripts/bench/measure.py time "$ROUNDS" "rekey-map=$by_map" "sed=$sed"
}

memory() {
  local order small large
  for order in stream sequence; do
    small=$(rekey_command "$SMALL" "$order")
    large=$(rekey_command "$LARGE" "$order")
    python3 scripts/bench/measure.py memory \
      "$SMALL documents, $order order=$small" "$LARGE documents, $order order=$large"
  done
}

mkdir -p "$WORK"
step 'Machine and tools' needed
step 'Rust' find_rust
step 'Release build without database SDKs' build
step 'Time' speed
step 'Peak memory' memory
rm -rf "$WORK"
