# The watchdog: its life from start to end.

# What a start of the container, or a long sleep of it, means: what was counted is counted anew, and a time that has
# been served is over; so is the end of a run that has been served, and a time that was long over at the first start.
# Where it came while this was not running, Berth may have stopped the container for it and started it again: it has
# five minutes to say what holds now. More than a quarter of an hour later somebody else may mean this start, or the
# service began it anew by itself: it stops what it was to destroy.
begin() {
  read_config
  find_tools
  find_time
  read_now
  lease_text='' leased_at=$uptime idle_since='' tries=0 next_try=0 why='' blind='' asking='' told_of='' run_name='' checked_at=$uptime timed_at=$uptime
  time_from=0 belated=
  if [ -n "$at" ] && [ "$now" -ge "$at" ]; then
    [ $((now - at)) -gt 900 ] && belated=1
    if [ -f "$here/done" ] || { [ -n "$belated" ] && [ ! -f "$here/state" ]; }; then
      echo "$at" > "$here/spent"
    elif [ -f "$here/state" ]; then
      time_from=$((uptime + 300))
      log "its time came while it was not running: it acts in 300 s, unless Berth says otherwise"
    fi
  fi
  for folder in "$runs"/*/; do
    if [ -f "$folder/served" ]; then rm -f "$folder/then" "$folder/served"; fi
    rm -f "$folder/due"
  done
  log "watching instance ${instance:-it is on} with ${tools# }${sure:+, by the service’s time}"
}

run() {
  claim || exit 0
  trap leave EXIT HUP INT TERM
  resting='' logged=0 ahead=0
  has_timeout=
  command -v timeout > /dev/null 2>&1 && has_timeout=1
  begin
  while [ -f "$here/config" ]; do
    read_now
    if [ $((uptime - checked_at)) -gt $((tick * 3 + 60)) ]; then begin; fi
    checked_at=$uptime
    if [ -z "$sure" ] && [ $((uptime - timed_at)) -ge 60 ]; then
      timed_at=$uptime
      find_time
      read_now
    fi
    read_config
    before=$why
    decide
    if [ "$why" != "$before" ]; then tries=0 next_try=0; fi
    if [ -n "$why" ] && [ "$uptime" -ge "$next_try" ]; then
      if tell_runs; then
        read_now
        read_config
        decide
      fi
      checked_at=$uptime
      if [ -n "$why" ]; then act; fi
    fi
    tell_state
    rest "$tick"
  done
}

start() {
  is_alive && return
  if command -v setsid > /dev/null 2>&1; then
    setsid sh "$here/watchdog.sh" run < /dev/null > /dev/null 2>&1 &
  else
    (trap '' HUP && exec sh "$here/watchdog.sh" run < /dev/null > /dev/null 2>&1) &
  fi
}

case ${1:-} in
  run) run ;;
  start) start ;;
  *) echo "usage: sh $0 start" >&2 && exit 2 ;;
esac
