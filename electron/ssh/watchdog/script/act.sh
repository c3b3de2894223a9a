# The watchdog: acting on a reason, and telling Berth how it stands.

# Tells the commands that asked for it that a stop is near, each once in five minutes, and waits for as long as they said.
# True where it has waited: what holds then may have changed.
tell_runs() {
  until=
  for folder in "$runs"/*/; do
    if [ ! -f "$folder/before_stop" ] || [ -f "$folder/code" ]; then continue; fi
    runs_still "$folder/around" /around.sh || continue
    has_had_notice "$folder" && continue
    read -r _ most < "$folder/before_stop"
    is_number "$most" || continue
    log "a command has $most s before this is done: $wanted"
    kill -USR2 "$pid" 2>/dev/null
    [ -n "$until" ] && [ "$until" -ge $((uptime + most + 2)) ] || until=$((uptime + most + 2))
  done
  [ -n "$until" ] || return 1
  while [ "$uptime" -lt "$until" ] && awaits_notice; do
    rest 1
    read_uptime
  done
}

has_had_notice() {
  had=
  read -r had 2>/dev/null < "$1/stopped"
  is_number "$had" && [ $((uptime - had)) -lt 300 ]
}

awaits_notice() {
  for folder in "$runs"/*/; do
    if [ ! -f "$folder/before_stop" ] || [ -f "$folder/code" ]; then continue; fi
    runs_still "$folder/around" /around.sh || continue
    has_had_notice "$folder" || return 0
  done
  return 1
}

# One try. What does not work is tried again by later checks, while the reason holds.
act() {
  if [ "$tries" -eq 0 ]; then
    case $why in
      time) log "its time has come: $wanted" ;;
      idle) log "no load above $below% for $((uptime - idle_since)) s: $wanted" ;;
      lease) log "Berth has not renewed the lease for $((uptime - leased_at)) s: $wanted" ;;
      run) log "run $run_name has ended: $wanted" ;;
    esac
  fi
  tell_away
  tries=$((tries + 1))
  if [ "$wanted" = destroy ]; then method=DELETE body=''; else method=PUT body='{"state":"stopped"}'; fi
  read_instance
  read_key
  next=$((2 << (tries > 8 ? 7 : tries - 1)))
  # Marked before it is asked for: what it does may end this script before another line of it runs.
  served='' acted=''
  if [ "$why" = run ]; then
    served=$runs/$run_name/served
    : > "$served"
  fi
  if [ -z "$instance" ] || [ -z "$url" ]; then
    log "try $tries: it does not know its instance yet; again in $next s"
  elif [ -z "$key" ]; then
    log "try $tries: the instance's key is not here; again in $next s"
  elif ! ask "$method" "/api/v0/instances/$instance/" "$body"; then
    log "try $tries with ${tool:-nothing, for there is no curl, wget or python3}: no answer; again in $next s"
  elif [ "${status%??}" = 2 ] && [ -n "$agreed" ]; then
    log "try $tries with $tool: done ($status)"
    printf '%s %s %s\n' "$now" "$wanted" "$why" > "$here/done"
    acted=1 tries=0 next=300
  else
    # Also for 404: a gateway says so, too, and the service of a key that it doesn't know. The end of its instance ends this.
    case $status in 401 | 403) next=600 ;; esac
    log "try $tries with $tool: refused ($status); again in $next s"
  fi
  [ -z "$served" ] || [ -n "$acted" ] || rm -f "$served"
  key=
  next_try=$((uptime + next))
}

tell_state() {
  {
    echo "now=$now"
    echo "tools=${tools# }"
    [ -z "$load" ] || echo "load=$load"
    [ -z "$blind" ] || echo "blind=1"
    [ -z "$idle_since" ] || echo "idle_for=$((uptime - idle_since))"
    [ -z "$lease" ] || echo "leased_for=$((uptime - leased_at))"
    [ -z "$why" ] || echo "why=$why"
    [ "$tries" -eq 0 ] || echo "tries=$tries"
  } > "$here/state.new" && mv -f "$here/state.new" "$here/state"
}
