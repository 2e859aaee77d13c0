#!/usr/bin/env bash
# The two DynamoDB servers of the tests: dynoxide, which does nearly everything the service does, and dynalite, an
# independent second opinion on scans, queries and plain writes.
#
# usage: scripts/servers/dynamodb.sh install       needs cargo, Node.js 20 or later, npm and curl
#        scripts/servers/dynamodb.sh start DIR     all state below DIR; prints NAME=value lines for the tests
#        scripts/servers/dynamodb.sh stop DIR
set -euo pipefail
shopt -s inherit_errexit

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$HERE/../shell.sh"

CACHE=${XDG_CACHE_HOME:-${HOME:?HOME or XDG_CACHE_HOME is needed}/.cache}/rekey
DYNOXIDE=$CACHE/dynoxide-3.2.0
DYNALITE=$CACHE/dynalite-4.0.0
# Seconds a server may take until it answers.
PATIENCE=30

say() { printf 'dynamodb: %s\n' "$*" >&2; }

# Builds into a folder beside the final one and renames it, so that a broken installation never looks whole.
install_dynoxide() {
  [ ! -x "$DYNOXIDE/bin/dynoxide" ] || return 0
  command -v cargo >/dev/null || { say 'cargo is needed to build dynoxide, and was not found'; return 1; }
  local building
  building=$(mktemp -d "$CACHE/building.XXXXXX")
  say 'building dynoxide 3.2.0, once'
  # The registry's checksum of the crate and the lock file inside it pin every source.
  if ! CARGO_TARGET_DIR=$building/target cargo install --quiet dynoxide-rs --version =3.2.0 --locked \
    --no-default-features --features native-sqlite,http-server,cli --root "$building/root" >&2; then
    rm -rf "$building"
    return 1
  fi
  rm -rf "$DYNOXIDE"
  mv "$building/root" "$DYNOXIDE"
  rm -rf "$building"
}

install_dynalite() {
  [ ! -e "$DYNALITE/node_modules/dynalite/cli.js" ] || return 0
  local tool building
  for tool in node npm; do
    command -v "$tool" >/dev/null || { say "$tool is needed to run dynalite, and was not found"; return 1; }
  done
  building=$(mktemp -d "$CACHE/building.XXXXXX")
  say 'installing dynalite 4.0.0, once'
  cp "$HERE/dynalite/package.json" "$HERE/dynalite/package-lock.json" "$building"
  # Its native part comes built; no package's own script is run.
  if ! npm ci --prefix "$building" --ignore-scripts --no-audit --no-fund --loglevel error >&2; then
    rm -rf "$building"
    return 1
  fi
  rm -rf "$DYNALITE"
  mv "$building" "$DYNALITE"
}

answers() { curl --silent --output /dev/null --max-time 2 "http://127.0.0.1:$1/"; }

# usage: serve NAME DIR COMMAND...    starts a server on a free port, given with --port, and prints its address
serve() {
  local name=$1 dir=$2 port pid attempt deadline
  shift 2
  for attempt in 1 2 3; do
    port=$(free_port)
    setsid "$@" --port "$port" </dev/null >"$dir/$name.log" 2>&1 &
    pid=$!
    printf '%d\n' "$pid" >"$dir/$name.pid"
    deadline=$((SECONDS + PATIENCE))
    while kill -0 "$pid" 2>/dev/null && [ "$SECONDS" -lt "$deadline" ]; do
      if answers "$port"; then
        printf 'http://127.0.0.1:%d' "$port"
        return
      fi
      sleep 0.05
    done
    kill "$pid" 2>/dev/null || true
    say "$name did not answer on port $port (attempt $attempt)"
  done
  cat "$dir/$name.log" >&2
  return 1
}

start() {
  local dir=$1 dynoxide dynalite
  mkdir -p "$dir/dynoxide" "$dir/dynalite"
  dynoxide=$(serve dynoxide "$dir" "$DYNOXIDE/bin/dynoxide" --db-path "$dir/dynoxide/tables.db" --log quiet)
  dynalite=$(serve dynalite "$dir" node "$DYNALITE/node_modules/dynalite/cli.js" --host 127.0.0.1 \
    --path "$dir/dynalite" --createTableMs 5 --deleteTableMs 5 --updateTableMs 5) || {
    stop "$dir"
    return 1
  }
  printf 'REKEY_TEST_DYNAMODB_DYNOXIDE=%s\n' "$dynoxide"
  printf 'REKEY_TEST_DYNAMODB_DYNALITE=%s\n' "$dynalite"
}

stop() {
  local dir=$1 file
  for file in "$dir"/*.pid; do
    [ -e "$file" ] || continue
    kill "$(cat "$file")" 2>/dev/null || true
    rm -f "$file"
  done
}

case "${1:-} ${2:+DIR}" in
  'install ') mkdir -p "$CACHE"; install_dynoxide; install_dynalite ;;
  'start DIR') start "$2" ;;
  'stop DIR') stop "$2" ;;
  *) printf 'usage: scripts/servers/dynamodb.sh install | start DIR | stop DIR\n' >&2; exit 2 ;;
esac
