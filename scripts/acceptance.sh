#!/usr/bin/env bash
# The acceptance at its full size, with a release build, line by line, and what each line showed.
# The same specifications run at a tenth of the size in scripts/test.sh.
#
# Each database has an acceptance of its own in scripts/acceptance.
#
# usage: scripts/acceptance.sh [LINE…]     road, tampered, hostile, archives, killed, dry-run, run, plan,
#                                          rehearse, vectors; all if left out
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/shell.sh
trap report_failure EXIT

# 100,000 events in 10,000 streams, 5,000 sagas; every command killed twenty times.
export REKEY_ROAD_STREAMS=${REKEY_ROAD_STREAMS:-10000}
export REKEY_ROAD_SAGAS=${REKEY_ROAD_SAGAS:-5000}
export REKEY_KILL_STREAMS=${REKEY_KILL_STREAMS:-1000}
export REKEY_KILLS=${REKEY_KILLS:-20}

# Builds the tool and its integration tests as they are delivered: optimized.
build() {
  cargo test --quiet --locked --release --no-default-features --test it --no-run
}

# Runs the tests of one module and shows what they say they saw, and how long each took at most.
shown() {
  local module=$1 log
  log=$(mktemp)
  if ! cargo test --quiet --locked --release --no-default-features --test it -- \
    --nocapture --test-threads 1 "$module::" >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    return 1
  fi
  # The lines of the tests themselves; the dots of the test runner stand before some of them.
  grep -vE '^(running|$)' "$log" | sed -E 's/^\.+//; /^$/d; s/^/  /'
  rm -f "$log"
}

# Whether a line was asked for.
wanted() {
  local name=$1 asked
  [ ${#LINES_ASKED[@]} -eq 0 ] && return 0
  for asked in "${LINES_ASKED[@]}"; do
    [ "$asked" = "$name" ] && return 0
  done
  return 1
}

# One line of the acceptance: its name, the module that proves it, what it must show.
line() {
  local name=$1 module=$2 what=$3
  wanted "$name" || return 0
  step "$name: $what" shown "$module"
}

LINES_ASKED=("$@")

step 'Rust' find_rust
step 'C compiler' find_c_compiler
step 'Release build' build
line vectors vectors 'every pair of documents passes through the command'
line road road 'seeded, exported, rewritten, imported, verified, pruned, on all four stores'
line tampered findings 'whatever is changed behind the tool is found and named, exit 1'
line hostile refusals 'hostile documents are refused, or set aside by whole stream'
line archives archives 'two exports are the same bytes; a cut-off archive never passes'
line killed kill 'killed at random moments and run again, the end state is the same'
line run run 'a project of four stores through all states, killed on its way'
line plan plan 'exactly what was planned, or a refusal with its own reason'
line rehearse rehearse 'the whole run offline, from archives'
line dry-run dry_run 'a dry run leaves target and folder byte-equal'
