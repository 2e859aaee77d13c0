# A long way to the server of a benchmark: sourced, not run. DELAY_MS says how long, for a round trip; $WORK is a folder.

# Makes FAR the address by which the server at HOST:PORT is $DELAY_MS away; without it, HOST:PORT itself.
# usage: lengthen_way HOST:PORT
lengthen_way() {
  FAR=$1
  [ -n "${DELAY_MS:-}" ] || return 0
  python3 scripts/bench/delay.py "$DELAY_MS" "$1" >"$WORK/way" &
  WAY=$!
  until FAR=$(sed -n 's/^READY //p' "$WORK/way") && [ -n "$FAR" ]; do
    kill -0 "$WAY" || return 1
    sleep 0.05
  done
  printf '%s ms of way before %s, by %s\n' "$DELAY_MS" "$1" "$FAR"
}

# Ends what lengthen_way began.
shorten_way() {
  [ -z "${WAY:-}" ] || kill "$WAY" 2>/dev/null || true
}

# Prints the HOST:PORT in an address of a test server.
# usage: near=$(near_server ADDRESS)
near_server() {
  grep -oE '127\.0\.0\.1:[0-9]+' <<<"$1" | sed -n 1p
}
