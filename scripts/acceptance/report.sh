#!/usr/bin/env bash
# The HTML report in a browser: valid by the W3C's checker, nothing wider than the page at the widths of a telephone, of
# paper and of a screen, no message on the console, no request to any network; and pictures for somebody to look at.
#
# It needs Rust, Python 3, Node.js and Java; Chromium is installed where it may be.
#
# usage: scripts/acceptance/report.sh [DIR]    where the pictures go; a folder for temporary files if left out
set -euo pipefail
shopt -s inherit_errexit
cd "$(dirname "$0")/../.."
. scripts/shell.sh
trap report_failure EXIT

# The W3C's Nu Html Checker, as npm has it.
CHECKER=vnu-jar@26.9.27
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/rekey/$CHECKER
PICTURES=${1:-$(mktemp -d)}

find_browser() {
  if ! command -v chromium >/dev/null; then
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
      printf 'Chromium is not installed. Install it, for example with: sudo apt-get install chromium\n' >&2
      return 1
    fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium fonts-dejavu-core
  fi
  chromium --version
}

find_checker() {
  if [ ! -e "$CACHE/node_modules/vnu-jar/build/dist/vnu.jar" ]; then
    mkdir -p "$CACHE"
    npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$CACHE" "$CHECKER"
  fi
}

build() {
  cargo build --quiet --locked --no-default-features
}

look() {
  mkdir -p "$PICTURES"
  python3 scripts/acceptance/report_pages.py "$(target_folder)/debug/rekey" \
    "$CACHE/node_modules/vnu-jar/build/dist/vnu.jar" "$PICTURES"
}

target_folder() {
  cargo metadata --format-version 1 --no-deps --locked | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])'
}

step 'Rust' find_rust
step 'Browser' find_browser
step 'Checker' find_checker
step 'Build' build
step 'Pages' look
printf '\nThe pictures are in %s.\n' "$PICTURES"
