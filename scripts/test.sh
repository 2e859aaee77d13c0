#!/usr/bin/env bash
# Installs what the tests need and runs every test. It needs Rust, Python 3, Node.js, Java with Google's Firestore
# emulator (scripts/servers/firestore.sh says how to get it) and, for the zstd and crypto crates, a C compiler, which it
# installs where it may. Each database in scripts/servers is a real server, installed
# into a cache outside the repository, started on free ports of the loopback interface and stopped at the end; Spark is
# installed likewise and started by its tests.
#
# usage: scripts/test.sh [--without STORE]... [FILTER]
#          --without STORE   leave a database or spark out, and say so; its tests then do not run
#          FILTER            a part of the names of the tests to run
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/shell.sh

WITHOUT=()
FILTER=()
while [ $# -gt 0 ]; do
  case "$1" in
    --without) WITHOUT+=("${2:?--without needs the name of a database}"); shift 2 ;;
    -*) printf 'usage: scripts/test.sh [--without STORE]... [FILTER]\n' >&2; exit 2 ;;
    *) FILTER+=("$1"); shift ;;
  esac
done

SERVERS=$(mktemp -d)
STARTED=()
FAILED=()

stop_servers() {
  local store
  for store in "${STARTED[@]}"; do
    "scripts/servers/$store.sh" stop "$SERVERS/$store" || true
  done
  rm -rf "$SERVERS"
}
trap 'report_failure; stop_servers' EXIT

# The features that let a test stop or disturb the tool at an exact moment, as far as the crate has them.
fault_features() {
  awk '/^\[/ { inside = ($0 == "[features]") }
       inside && /^[a-z-]*(faults|failpoints)[a-z-]* *=/ { print $1 }' Cargo.toml | paste -s -d, -
}

left_out() {
  local store
  for store in "${WITHOUT[@]}"; do
    [ "$store" = "$1" ] && return 0
  done
  return 1
}

# Starts one database. One that cannot be had fails the run, at its end, when everything else was tested.
start_server() {
  local store=$1
  # Noted first: a start that fails half-way has servers to stop, too.
  STARTED+=("$store")
  if ! start_servers_of "$store" "$SERVERS/$store"; then
    FAILED+=("$store")
  fi
}

start_servers() {
  local script store
  for script in scripts/servers/*.sh; do
    [ -e "$script" ] || continue
    store=$(basename "$script" .sh)
    if left_out "$store"; then
      printf '!!! %s is left out: none of its tests run.\n' "$store"
    else
      start_server "$store"
    fi
  done
}

# Every database SDK is in the one build, so that all of them begin TLS in one process.
all_tests() {
  local store out skipped=() expression=''
  local -A outs=()
  for store in "${WITHOUT[@]}" "${FAILED[@]}"; do
    outs[$store]=1
    # A project of all four databases needs all four.
    [ "$store" = spark ] || outs[every_store]=1
  done
  for out in "${!outs[@]}"; do
    skipped+=(--skip "on_$out::")
    expression+="${expression:+ & }not test(/^on_$out::/)"
  done
  if cargo nextest --version >/dev/null 2>&1; then
    cargo nextest run --locked --features "$(fault_features)" ${expression:+-E "$expression"} "${FILTER[@]}"
  else
    cargo test --locked --features "$(fault_features)" --lib --bins --tests -- "${skipped[@]}" "${FILTER[@]}"
  fi
}

# With the features of the other tests, so that both use one build.
documentation_tests() {
  cargo test --locked --features "$(fault_features)" --doc
}

# What the packages are tried out with; a tool that is not there leaves its part of their tests out.
tools_of_the_packages() {
  local tool missing=()
  for tool in dpkg-deb dpkg-shlibdeps man zsh fish; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  if [ ${#missing[@]} -gt 0 ]; then
    printf '!!! not installed: %s. What they do with the packages is not tested. Debian has them in dpkg, dpkg-dev,\n' \
      "${missing[*]}"
    printf '!!! man-db, zsh and fish.\n'
  fi
}

step 'Rust' find_rust
step 'C compiler' find_c_compiler
step 'Tools of the packages' tools_of_the_packages
step 'Servers' start_servers
if [ ${#FILTER[@]} -eq 0 ]; then
  step 'Examples in the documentation' documentation_tests
fi
# Last, so that the runner's own summary closes the output.
STEP='Tests'
printf '\n=== %s\n' "$STEP"
all_tests
if [ ${#FAILED[@]} -gt 0 ]; then
  printf '!!! not tested, since its server could not be had: %s\n' "${FAILED[*]}" >&2
  exit 1
fi
