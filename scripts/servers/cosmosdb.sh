#!/usr/bin/env bash
# Cosmos DB for the tests: the host in tests/cosmosdb_host, around the in-memory engine of the SDK's driver crate.
# There is no other server that the Rust SDK can talk to without Docker.
#
# usage: scripts/servers/cosmosdb.sh install       needs cargo; builds the host once for each state of its sources
#        scripts/servers/cosmosdb.sh start DIR     all state below DIR; prints NAME=value lines for the tests
#        scripts/servers/cosmosdb.sh stop DIR
set -euo pipefail
shopt -s inherit_errexit

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
SOURCES=$(cd "$HERE/../../tests/cosmosdb_host" && pwd)
CACHE=${XDG_CACHE_HOME:-${HOME:?HOME or XDG_CACHE_HOME is needed}/.cache}/rekey
# The key of the one account there is; it opens nothing else.
KEY=cmVrZXktdGVzdHMtY29zbW9zLWRiLWhvc3Qta2V5LTAwMDE=
# Seconds the host may take until it listens.
PATIENCE=30

say() { printf 'cosmosdb: %s\n' "$*" >&2; }

# The file that the host's present sources are built into.
program() {
  local state
  state=$(cd "$SOURCES" && sha256sum Cargo.toml Cargo.lock src/*.rs | sha256sum)
  printf '%s/cosmosdb-host-%s' "$CACHE" "${state:0:16}"
}

# Builds into a folder beside the final file and moves the file, so that a broken installation never looks whole.
install_host() {
  local program building
  program=$(program)
  [ ! -x "$program" ] || return 0
  command -v cargo >/dev/null || { say 'cargo is needed to build the host, and was not found'; return 1; }
  building=$(mktemp -d "$CACHE/building.XXXXXX")
  say 'building the host, once'
  # Its lock file pins every source by the registry's checksum.
  if ! cargo build --quiet --release --locked --manifest-path "$SOURCES/Cargo.toml" --target-dir "$building" >&2; then
    rm -rf "$building"
    return 1
  fi
  mv "$building/release/cosmosdb_host" "$program"
  rm -rf "$building"
}

start() {
  local dir=$1 pid address='' deadline
  mkdir -p "$dir"
  # Looked at below, maybe before the host's shell has made it.
  : >"$dir/host.out"
  # In a session of its own, so that an interrupt of the tests leaves it to `stop`. It takes a free port by itself.
  setsid "$(program)" --key "$KEY" </dev/null >"$dir/host.out" 2>"$dir/host.log" &
  pid=$!
  printf '%d\n' "$pid" >"$dir/host.pid"
  deadline=$((SECONDS + PATIENCE))
  while [ -z "$address" ]; do
    if ! kill -0 "$pid" 2>/dev/null || [ "$SECONDS" -ge "$deadline" ]; then
      cat "$dir/host.log" >&2
      say 'the host did not start'
      return 1
    fi
    sleep 0.05
    address=$(sed -n 's/^READY //p' "$dir/host.out")
  done
  printf 'REKEY_TEST_COSMOSDB_ENDPOINT=%s\n' "${address%/}"
  printf 'REKEY_TEST_COSMOSDB_KEY=%s\n' "$KEY"
}

stop() {
  local dir=$1
  [ -e "$dir/host.pid" ] || return 0
  kill "$(cat "$dir/host.pid")" 2>/dev/null || true
  rm -f "$dir/host.pid"
}

case "${1:-} ${2:+DIR}" in
  'install ') mkdir -p "$CACHE"; install_host ;;
  'start DIR') start "$2" ;;
  'stop DIR') stop "$2" ;;
  *) printf 'usage: scripts/servers/cosmosdb.sh install | start DIR | stop DIR\n' >&2; exit 2 ;;
esac
