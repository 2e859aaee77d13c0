#!/usr/bin/env bash
# Google's own Firestore emulator for the tests: the jar of gcloud or of firebase-tools, run by Java 11 or later.
# It is looked for, never downloaded: its makers' own tools fetch it.
#
# usage: scripts/servers/firestore.sh install       finds jar and Java, or says how to get them
#        scripts/servers/firestore.sh start DIR     all state below DIR; prints NAME=value lines for the tests
#        scripts/servers/firestore.sh stop DIR
#
# settings: FIRESTORE_EMULATOR_HOST   an emulator that runs already, as host:port
#           FIRESTORE_EMULATOR_JAR    the jar, where it is not in a usual place
set -euo pipefail
shopt -s inherit_errexit

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$HERE/../shell.sh"

# What the packaged start script of either jar calls.
MAIN=com.google.cloud.datastore.emulator.firestore.CloudFirestore
# Seconds the emulator may take until it answers.
PATIENCE=60

say() { printf 'firestore: %s\n' "$*" >&2; }

# Prints every place where a jar may be, the likeliest first.
places() {
  local below=platform/cloud-firestore-emulator/cloud-firestore-emulator.jar root
  printf '%s\n' "${FIRESTORE_EMULATOR_JAR:-}" "/usr/lib/google-cloud-sdk/$below" \
    "/usr/share/google-cloud-sdk/$below" "/opt/google-cloud-sdk/$below" "${HOME:-/nowhere}/google-cloud-sdk/$below"
  if command -v gcloud >/dev/null && root=$(gcloud info --format='value(installation.sdk_root)' 2>/dev/null); then
    printf '%s/%s\n' "$root" "$below"
  fi
  # The newest of those that firebase-tools has fetched.
  printf '%s\n' "${HOME:-/nowhere}"/.cache/firebase/emulators/cloud-firestore-emulator-v*.jar | sort -rV
}

# Prints the first jar that is there.
jar() {
  local place
  while read -r place; do
    if [ -n "$place" ] && [ -f "$place" ]; then
      printf '%s' "$place"
      return
    fi
  done < <(places)
  say 'the emulator was not found. Get it in one of these ways, then run this again:'
  say '  gcloud components install cloud-firestore-emulator'
  say '  apt-get install google-cloud-cli-firestore-emulator   (from https://packages.cloud.google.com/apt)'
  say '  npx firebase-tools setup:emulators:firestore'
  say 'or name a jar with FIRESTORE_EMULATOR_JAR, or an emulator that runs with FIRESTORE_EMULATOR_HOST=host:port.'
  say 'To test everything else: scripts/test.sh --without firestore'
  return 1
}

install() {
  [ -z "${FIRESTORE_EMULATOR_HOST:-}" ] || return 0
  local found
  found=$(jar)
  if ! command -v java >/dev/null; then
    say 'Java 11 or later is needed to run the emulator, and java was not found.'
    say 'Install one, for example with: apt-get install default-jre-headless'
    say 'To test everything else: scripts/test.sh --without firestore'
    return 1
  fi
  say "the emulator is $found"
}

answers() { [ "$(curl --silent --max-time 2 "http://127.0.0.1:$1/")" = Ok ]; }

start() {
  local dir=$1 port pid attempt deadline found
  if [ -n "${FIRESTORE_EMULATOR_HOST:-}" ]; then
    printf 'REKEY_TEST_FIRESTORE_EMULATOR=%s\n' "${FIRESTORE_EMULATOR_HOST#http://}"
    return
  fi
  mkdir -p "$dir"
  found=$(jar)
  for attempt in 1 2 3; do
    port=$(free_port)
    # It keeps every version of every document; nothing is on disk, so it may be killed.
    setsid java -Xmx1g -Duser.language=en -cp "$found" "$MAIN" start --host=127.0.0.1 --port="$port" \
      </dev/null >"$dir/emulator.log" 2>&1 &
    pid=$!
    printf '%d\n' "$pid" >"$dir/emulator.pid"
    deadline=$((SECONDS + PATIENCE))
    while kill -0 "$pid" 2>/dev/null && [ "$SECONDS" -lt "$deadline" ]; do
      if answers "$port"; then
        printf 'REKEY_TEST_FIRESTORE_EMULATOR=127.0.0.1:%d\n' "$port"
        return
      fi
      sleep 0.1
    done
    kill "$pid" 2>/dev/null || true
    say "the emulator did not answer on port $port (attempt $attempt)"
  done
  cat "$dir/emulator.log" >&2
  return 1
}

stop() {
  local file=$1/emulator.pid
  [ -e "$file" ] || return 0
  kill "$(cat "$file")" 2>/dev/null || true
  rm -f "$file"
}

case "${1:-} ${2:+DIR}" in
  'install ') install ;;
  'start DIR') start "$2" ;;
  'stop DIR') stop "$2" ;;
  *) printf 'usage: scripts/servers/firestore.sh install | start DIR | stop DIR\n' >&2; exit 2 ;;
esac
