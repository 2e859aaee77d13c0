#!/usr/bin/env bash
# Runs every test. It needs Rust and, for the zstd and crypto crates, a C compiler, which it installs
# where it may. No database and no network beyond cargo's own downloads are used.
#
# usage: scripts/test.sh [FILTER]     a part of the names of the tests to run in the main suite
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/shell.sh
trap report_failure EXIT

# The features that let a test stop or disturb the tool at an exact moment, as far as the crate has them.
fault_features() {
  awk '/^\[/ { inside = ($0 == "[features]") }
       inside && /^[a-z-]*(faults|failpoints)[a-z-]* *=/ { print $1 }' Cargo.toml | paste -s -d, -
}

with_nextest() {
  cargo nextest --version >/dev/null 2>&1
}

# All four database SDKs in one process: every one must begin TLS without a panic.
tls_tests() {
  if with_nextest; then
    cargo nextest run --locked --test it tls::
  else
    cargo test --locked --test it tls::
  fi
}

# With the features of the other tests, so that both use one build.
documentation_tests() {
  cargo test --locked --no-default-features --features "$(fault_features)" --doc
}

# Everything else needs no SDK and is built without them.
all_tests() {
  local features
  features=$(fault_features)
  if with_nextest; then
    cargo nextest run --locked --no-default-features --features "$features" "$@"
  else
    cargo test --locked --no-default-features --features "$features" --lib --bins --tests -- "$@"
  fi
}

step 'Rust' find_rust
step 'C compiler' find_c_compiler
if [ $# -eq 0 ]; then
  step 'TLS with all four database SDKs' tls_tests
  step 'Examples in the documentation' documentation_tests
fi
# Last, so that the runner's own summary closes the output.
STEP='Tests'
printf '\n=== %s\n' "$STEP"
all_tests "$@"
