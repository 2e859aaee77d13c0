#!/usr/bin/env bash
# Compares `rekey rekey` with the tools one would reach for instead, and shows that its memory does not grow.
#
#   sed   one blind substitution a line: no check, no digest, no key map, no order
#   jq    the same edit by a parser; it re-spells numbers on the way
#
# Only ratios taken on one machine mean anything; they are printed with the processor they were taken on.
# Needs bash, python3, sed, jq, awk and Rust.
#
# usage: scripts/bench.sh           settings: DOCUMENTS, ROUNDS, SMALL, LARGE
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/shell.sh
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
archive() {
  local file="$WORK/$2-$1.ndjson"
  if [ ! -e "$file" ]; then
    python3 scripts/bench/generate.py "$1" "$file.part" "$2"
    mv "$file.part" "$file"
  fi
  printf '%s' "$file"
}

# usage: rekey_command FILE DOCUMENTS    the command that moves an archive to tenant acme
rekey_command() {
  printf '%q rekey %q --layout mongodb-events --expect-documents %d --tenant acme --out %q --state-dir %q --quiet' \
    "$REKEY" "$1" "$2" "$WORK/out.ndjson" "$WORK"
}

speed() {
  local file
  file=$(archive "$DOCUMENTS" stream)
  printf '%d documents, %d MB, %d rounds\n' "$DOCUMENTS" "$(($(wc -c <"$file") / 1000000))" "$ROUNDS"
  cat "$file" >/dev/null
  python3 scripts/bench/measure.py time "$ROUNDS" \
    "rekey=$(rekey_command "$file" "$DOCUMENTS")" \
    "sed=LC_ALL=C sed 's/\"streamId\":\"/\"streamId\":\"t:acme:/' $(printf %q "$file") > $(printf %q "$WORK/sed.ndjson")" \
    "jq=jq -c '.streamId = \"t:acme:\" + .streamId' $(printf %q "$file") > $(printf %q "$WORK/jq.ndjson")"
  cmp "$WORK/out.ndjson" "$WORK/sed.ndjson"
  printf 'The outputs of rekey and sed are the same bytes.\n'
}

memory() {
  local order
  for order in stream sequence; do
    python3 scripts/bench/measure.py memory \
      "$SMALL documents, $order order=$(rekey_command "$(archive "$SMALL" "$order")" "$SMALL")" \
      "$LARGE documents, $order order=$(rekey_command "$(archive "$LARGE" "$order")" "$LARGE")"
  done
}

mkdir -p "$WORK"
step 'Machine and tools' needed
step 'Rust' find_rust
step 'Release build without database SDKs' build
step 'Time' speed
step 'Peak memory' memory
rm -rf "$WORK"
