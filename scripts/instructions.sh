#!/usr/bin/env bash
# Counts the instructions of the loops that every document goes through, and fails where one takes over 5 % more than
# benches/instructions.tsv says. Unlike a time, a count is the same on a busy machine; scripts/bench/instructions.py
# says what makes it so.
#
# Needs Rust, a C compiler, Python 3 and valgrind, which it installs where it may. On other processors than x86-64 the
# committed counts mean nothing, and it says so.
#
# usage: scripts/instructions.sh [--accept]      --accept    write the table anew
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/.."
. scripts/shell.sh
trap report_failure EXIT

TARGET=${CARGO_TARGET_DIR:-$PWD/target}

find_valgrind() {
  if ! command -v valgrind >/dev/null && ! install_packages valgrind; then
    printf 'valgrind is needed and was not found. Install it, for example with: sudo apt-get install valgrind\n' >&2
    return 1
  fi
  valgrind --version
}

build() {
  CARGO_INCREMENTAL=0 cargo build --locked --quiet --profile instructions --no-default-features --example instructions
}

instructions() {
  python3 scripts/bench/instructions.py "$TARGET/instructions/examples/instructions" benches/instructions.tsv \
    "$(rustc --version)" "$@"
}

if [ "$(uname -m)" != x86_64 ]; then
  printf '!!! The committed counts are those of x86-64 and say nothing of %s: nothing is counted.\n' "$(uname -m)"
  exit
fi
step 'Rust' find_rust
step 'C compiler' find_c_compiler
step 'valgrind' find_valgrind
step 'Build with symbols' build
step 'Instructions' instructions "$@"
