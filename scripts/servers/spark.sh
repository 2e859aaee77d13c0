#!/usr/bin/env bash
# Apache Spark for the tests of scripts/spark: PySpark in an environment of its own. Nothing of it stays running; each
# test starts a cluster of local processes and ends it.
#
# usage: scripts/servers/spark.sh install       needs Python 3.10 or later with venv and pip, and Java 17 or later
#        scripts/servers/spark.sh start DIR     prints NAME=value lines for the tests
#        scripts/servers/spark.sh stop DIR
set -euo pipefail
shopt -s inherit_errexit

CACHE=${XDG_CACHE_HOME:-${HOME:?HOME or XDG_CACHE_HOME is needed}/.cache}/rekey
SPARK=$CACHE/pyspark-4.3.0

say() { printf 'spark: %s\n' "$*" >&2; }

# An environment knows its own path, so it is made where it stays; a mark says that it is whole.
install() {
  [ ! -e "$SPARK/whole" ] || return 0
  local tool
  for tool in python3 java; do
    command -v "$tool" >/dev/null || { say "$tool is needed, and was not found"; return 1; }
  done
  say 'installing PySpark 4.3.0, once (450 MB)'
  rm -rf "$SPARK"
  make_environment || { say 'python3 cannot make an environment: install python3-venv'; return 1; }
  "$SPARK/bin/pip" install --quiet --disable-pip-version-check --require-hashes --requirement /dev/stdin <<'REQUIREMENTS' >&2
pyspark==4.3.0 --hash=sha256:e8c517948eff7088a7aa07449aa8eafa4a15a8d50319de2525a6fd26622476c6
py4j==0.10.9.9 --hash=sha256:c7c26e4158defb37b0bb124933163641a2ff6e3a3913f7811b0ddbe07ed61533
REQUIREMENTS
  touch "$SPARK/whole"
}

make_environment() {
  python3 -m venv "$SPARK" >&2 && return
  # Debian has it in a package of its own.
  [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null || return 1
  apt-get update -qq >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends python3-venv >&2
  python3 -m venv "$SPARK" >&2
}

case "${1:-} ${2:+DIR}" in
  'install ') mkdir -p "$CACHE"; install ;;
  'start DIR') printf 'REKEY_TEST_SPARK_PYTHON=%s\n' "$SPARK/bin/python" ;;
  'stop DIR') ;;
  *) printf 'usage: scripts/servers/spark.sh install | start DIR | stop DIR\n' >&2; exit 2 ;;
esac
