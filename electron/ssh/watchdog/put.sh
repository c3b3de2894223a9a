# Installs the watchdog and starts it, or restarts an installed one. Needs: instance, script, config, given_key.

tool=
command -v python3 > /dev/null 2>&1 && tool=python3
case $(wget --version 2>/dev/null) in *'GNU Wget'*) tool=wget ;; esac
command -v curl > /dev/null 2>&1 && tool=curl
if [ -z "$tool" ]; then
  echo 'refused no_tool'
  exit 0
fi
key=none
if [ -n "${CONTAINER_API_KEY:-}" ] || in_environment CONTAINER_API_KEY; then
  key=container
elif [ -n "$given_key" ]; then
  key=kept
fi
if [ "$key" = none ]; then
  echo 'refused no_key'
  exit 0
fi

mkdir -p "$here" 2>/dev/null
if ! printf '%s' "$script" > "$here/watchdog.sh.new"; then
  echo 'refused no_room'
  exit 0
fi
end_it
end_elsewhere
uptime=
read -r uptime _ 2>/dev/null < /proc/uptime
boot=
read -r boot 2>/dev/null < /proc/sys/kernel/random/boot_id
mv -f "$here/watchdog.sh.new" "$here/watchdog.sh"
chmod 700 "$here/watchdog.sh"
printf '%s\nkey=%s\ntold_up=%s\nboot=%s\n' "$config" "$key" "${uptime%%.*}" "$boot" > "$here/config.new"
mv -f "$here/config.new" "$here/config"
rm -f "$here/removed" "$here/key" "$here/done" "$here/spent" "$here/state"
if [ "$key" = kept ]; then printf '%s\n' "$given_key" > "$here/key"; fi

# First in the start script, since what comes last may never be reached.
if [ -f "$onstart" ] && [ -w "$onstart" ]; then
  unhook
  {
    head -n 1 "$onstart" | grep '^#!'
    printf '# >>> %s\n[ -f %s/watchdog.sh ] && sh %s/watchdog.sh start\n# <<< %s\n' "$mark" "$here" "$here" "$mark"
    if head -n 1 "$onstart" | grep -q '^#!'; then tail -n +2 "$onstart"; else cat "$onstart"; fi
  } > "$onstart.berth" && cat "$onstart.berth" > "$onstart"
  rm -f "$onstart.berth"
fi
