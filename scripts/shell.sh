# What the repository's scripts share: where Rust is, and steps with a heading and the seconds they took.
# Sourced, not run.

# Runs a command under a heading; says how long it took, or that it failed.
# usage: step HEADING COMMAND [ARGUMENT...]
step() {
  STEP=$1
  local started=$SECONDS
  shift
  printf '\n=== %s\n' "$STEP"
  "$@"
  printf -- '--- %s: %d s\n' "$STEP" "$((SECONDS - started))"
}

# Reports the step that a script ended in, if it ended badly.
# usage: trap report_failure EXIT
report_failure() {
  local code=$?
  if [ "$code" -ne 0 ]; then
    printf '\n!!! failed (exit %d): %s\n' "$code" "${STEP:-before the first step}" >&2
  fi
}

# Installs and starts the servers of one database and exports the variables that its tests find them by; all state is
# below DIR. `scripts/servers/STORE.sh stop DIR` also ends what a start that failed has left.
# usage: start_servers_of STORE DIR
start_servers_of() {
  local store=$1 folder=$2 variables variable
  "scripts/servers/$store.sh" install || return 1
  variables=$("scripts/servers/$store.sh" start "$folder") || return 1
  printf '%s\n' "$variables"
  # Whole lines: a key may end with the sign that stands between name and value.
  while IFS= read -r variable; do
    [ -z "$variable" ] || export "${variable?}"
  done <<<"$variables"
}

# A port on which nobody listens, below the range the system gives out by itself.
# usage: free_port
free_port() {
  local port
  while :; do
    port=$((20000 + RANDOM % 12000))
    if ! (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      printf '%d' "$port"
      return
    fi
  done
}

# Finds cargo, its toolchain and a folder that cargo may write to, also where HOME is empty or not set.
find_rust() {
  local directory
  if ! command -v cargo >/dev/null; then
    for directory in "${CARGO_HOME:-}/bin" "${HOME:-}/.cargo/bin" /usr/local/cargo/bin; do
      if [ -x "$directory/cargo" ]; then
        PATH="$directory:$PATH"
        break
      fi
    done
  fi
  # rustup looks for its toolchains under HOME. Under another HOME they are still where they were
  # installed: beside the folder that holds cargo.
  if [ -z "${RUSTUP_HOME:-}" ] && command -v cargo >/dev/null && ! cargo --version >/dev/null 2>&1; then
    directory=$(dirname "$(dirname "$(dirname "$(command -v cargo)")")")
    for directory in "$directory/.rustup" "$directory/rustup"; do
      if [ -d "$directory/toolchains" ]; then
        export RUSTUP_HOME="$directory"
        break
      fi
    done
  fi
  if ! cargo --version >/dev/null 2>&1; then
    printf 'Rust is needed, and cargo does not run. Install it from https://rustup.rs (the version that\n' >&2
    printf 'rust-version in Cargo.toml names, or a later one), or set PATH and RUSTUP_HOME to where it is.\n' >&2
    return 1
  fi
  directory=${CARGO_HOME:-${HOME:+$HOME/.cargo}}
  if [ -z "$directory" ] || ! mkdir -p "$directory" 2>/dev/null || [ ! -w "$directory" ]; then
    export CARGO_HOME="${CARGO_TARGET_DIR:-$PWD/target}/cargo-home"
  fi
  cargo --version
}

# Installs packages of Debian where this user may; fails where not.
# usage: install_packages PACKAGE...
install_packages() {
  [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null || return 1
  apt-get update -qq || return 1
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@"
}

# Makes sure that there is a C compiler, which the zstd and crypto crates are built with.
find_c_compiler() {
  if command -v "${CC:-cc}" >/dev/null; then
    "${CC:-cc}" --version | sed -n 1p
    return
  fi
  if install_packages gcc libc6-dev; then
    return
  fi
  printf 'A C compiler is needed (the zstd crate builds C code), and cc was not found.\n' >&2
  printf 'Install one, for example with: sudo apt-get install gcc libc6-dev\n' >&2
  return 1
}
