# The watchdog: that one of it runs, and no second, and how it rests and leaves.

# Whether the process named in a file runs, and was called with that text: after a restart of the container the number
# may be another program's, and one that has ended may linger without a command line.
runs_still() {
  pid=
  read -r pid 2>/dev/null < "$1"
  is_number "$pid" && kill -0 "$pid" 2>/dev/null || return 1
  [ -r "/proc/$pid/cmdline" ] || return 0
  case $(tr '\0' ' ' 2>/dev/null < "/proc/$pid/cmdline") in *"$2"*) return 0 ;; esac
  return 1
}

is_alive() {
  runs_still "$here/pid" "$here/watchdog.sh run" && [ "$pid" != $$ ]
}

# One watchdog in this folder, and no second.
claim() {
  (set -C && echo $$ > "$here/pid") 2>/dev/null && return
  is_alive && return 1
  rm -f "$here/pid"
  (set -C && echo $$ > "$here/pid") 2>/dev/null
}

leave() {
  trap - EXIT
  [ -n "$resting" ] && kill "$resting" 2>/dev/null
  rm -f "$here/wgetrc.$$" "$here/gpu" "$here/gpu.new" "$here/tunnels"
  read -r pid 2>/dev/null < "$here/pid" && [ "$pid" = $$ ] && rm -f "$here/pid"
  exit 0
}

# A sleep that a signal ends.
rest() {
  sleep "$1" &
  resting=$!
  wait "$resting"
  resting=
}
