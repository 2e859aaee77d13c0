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
# usage: scripts/bench.sh            settings: DOCUMENTS, ROUNDS, SMALL, LARGE
#        scripts/bench.sh STORE    a store against bare loops over its SDK (cosmosdb, dynamodb, firestore, mongodb): see scripts/bench/STORE.sh
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
. scripts/shell.sh
if [ -n "${1:-}" ]; then
  exec "scripts/bench/$1.sh"
fi
trap report_failure EXIT

DOCUMENTS=${DOCUMENTS:-500000}
ROUNDS=${ROUNDS:-5}
SMALL=${SMALL:-100000}
LARGE=${LARGE:-2000000}
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
  cargo build --release --locked --no-default-features --quiet
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

speed() {
  local file rekey sed capture jq
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
