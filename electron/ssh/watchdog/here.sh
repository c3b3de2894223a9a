# What the scripts below share. Berth gives it to `sh -s`, after lines that set what they need.

umask 077
home=${HOME:-/root}
here=$home/.berth/watchdog
onstart=$home/onstart.sh
mark='berth watchdog'

in_environment() {
  tr '\0' '\n' 2>/dev/null < /proc/1/environ | grep -q "^$1=."
}

is_alive() {
  pid=
  read -r pid 2>/dev/null < "$here/pid"
  case $pid in '' | *[!0-9]*) return 1 ;; esac
  kill -0 "$pid" 2>/dev/null || return 1
  [ -r "/proc/$pid/cmdline" ] || return 0
  case $(tr '\0' ' ' 2>/dev/null < "/proc/$pid/cmdline") in *"$here/watchdog.sh run"*) return 0 ;; esac
  return 1
}

# Ends it, and waits until it has ended.
end_it() {
  is_alive || return 0
  ending=$pid
  kill "$ending" 2>/dev/null
  waited=0
  while is_alive && [ "$waited" -lt 50 ]; do
    sleep 0.1 2>/dev/null || sleep 1
    waited=$((waited + 1))
  done
  if is_alive; then kill -9 "$ending" 2>/dev/null; fi
  rm -f "$here/pid"
}

# Ends one of this instance's start script whose home is not that of a login, as an image may choose it, for good. Needs:
# instance.
end_elsewhere() {
  for found in $(grep -ls '/\.berth/watchdog/watchdog[.]sh' /proc/[0-9]*/cmdline 2>/dev/null); do
    of=${found%/cmdline}
    folder=$(tr '\0' '\n' 2>/dev/null < "$found" | sed -n 's|^\(/.*/\.berth/watchdog\)/watchdog\.sh$|\1|p')
    if [ -z "$folder" ] || [ "$folder" = "$here" ]; then continue; fi
    tr '\0' '\n' 2>/dev/null < "$of/environ" | grep -Eqx "CONTAINER_ID=(C\.)?$instance" || continue
    kill "${of#/proc/}" 2>/dev/null
    rm -rf "$folder"
    mkdir -p "$folder" && : > "$folder/removed"
  done
}

# The start script without what Berth put into it. Its own rights and owner stay.
unhook() {
  if [ ! -f "$onstart" ] || ! grep -q "# >>> $mark" "$onstart"; then return 0; fi
  sed "/# >>> $mark/,/# <<< $mark/d" "$onstart" > "$onstart.berth" && cat "$onstart.berth" > "$onstart"
  rm -f "$onstart.berth"
}
