#!/bin/sh
# Berth's watchdog. It stops or destroys the instance that it runs on, and can touch no other: at a time, after so
# long without load on the GPUs, when Berth has not renewed its lease for so long, or when a run has ended that says
# so. It lives in one folder, ~/.berth/watchdog, and is gone with it.
#
#   sh /…/watchdog.sh start    sees to it that one is running
#   sh /…/watchdog.sh run      is the one that runs
#
# In its folder: config (name=value, written by Berth), lease (renewed when its text changes), key (the instance's own
# restricted key, where the container's environment does not have it), pid, log, state (for Berth to read), tell (an
# address of the user's, until it was told), done (what it did last), spent (a time that is over).

umask 077
here=${0%/*}
runs=$here/../runs

# Seconds of a clock that nobody sets: a wrong or changed clock in the container means nothing.
read_uptime() {
  uptime=
  read -r uptime _ 2>/dev/null < /proc/uptime
  uptime=${uptime%%.*}
  case $uptime in '' | *[!0-9]*) uptime=$(date +%s) ;; esac
}

# The service's time now, epoch seconds, once `ahead` is known.
read_now() {
  read_uptime
  now=$((uptime + ahead))
}

log() {
  printf '%s %s\n' "$now" "$*" >> "$here/log"
  logged=$((logged + 1))
  if [ "$logged" -ge 100 ]; then
    logged=0
    tail -n 300 "$here/log" > "$here/log.new" && mv -f "$here/log.new" "$here/log"
  fi
}
