# The watchdog: whether there is a reason to act now.

# The highest load of all GPUs in whole percents, in `load`; empty when it cannot be known, as of a GPU that does not
# report it. What else is printed, as a warning, counts as nothing, and so does the exit code. A driver that hangs is
# waited for 20 seconds, and none is asked beside it.
read_load() {
  load=
  [ -n "$asking" ] && [ ! -f "$here/gpu" ] && kill -0 "$asking" 2>/dev/null && return
  rm -f "$here/gpu"
  {
    ${has_timeout:+timeout -s KILL 20} nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader,nounits
    mv -f "$here/gpu.new" "$here/gpu"
  } > "$here/gpu.new" 2>/dev/null < /dev/null &
  asking=$!
  waited=0
  while [ ! -f "$here/gpu" ] && [ "$waited" -lt 200 ]; do
    sleep 0.1 2>/dev/null || sleep 1
    waited=$((waited + 1))
  done
  [ -f "$here/gpu" ] || return
  while read -r one rest; do
    case $one$rest in
      '['* | N/A) load='' && return ;;
      '' | .* | *[!0-9.]*) continue ;;
    esac
    one=${one%%.*}
    if [ -z "$load" ] || [ "$one" -gt "$load" ]; then load=$one; fi
  done << LOADS
$(tr -d '\r%' < "$here/gpu")
LOADS
}

# A run that has ended and says what becomes of the instance then, so long after its end. Berth takes `due` away while
# it is busy with that run, and `then` once it has done what was wanted. Nothing happens while another run goes on.
check_runs() {
  run_wants='' run_name=''
  for folder in "$runs"/*/; do
    if [ ! -f "$folder/pid" ] || [ -f "$folder/code" ]; then continue; fi
    name=${folder%/}
    runs_still "$folder/pid" "/${name##*/}/run.sh" && return
  done
  for folder in "$runs"/*/; do
    if [ ! -f "$folder/then" ] || [ ! -f "$folder/code" ]; then continue; fi
    read -r wanted grace < "$folder/then"
    is_number "$grace" || continue
    [ "$wanted" = stop ] || [ "$wanted" = destroy ] || continue
    read -r code < "$folder/code"
    # What a command that failed has left may be wanted.
    [ "$code" = 0 ] || wanted=stop
    due=
    read -r due 2>/dev/null < "$folder/due"
    # What was counted on another boot counts for nothing.
    if ! is_number "$due" || [ "$due" -gt $((uptime + grace)) ]; then
      echo $((uptime + grace)) > "$folder/due"
    elif [ "$uptime" -ge "$due" ]; then
      run_wants=$wanted
      run_name=${folder%/}
      run_name=${run_name##*/}
      return
    fi
  done
}

# What somebody used since the GPUs are idle is idle since then.
heed_use() {
  home=${here%/.berth/*} seen=$here/tunnels
  read_use 2> /dev/null
  if [ -n "$used" ] && [ $((uptime - used)) -gt "$idle_since" ]; then
    log "idle by its GPUs, but used $used s ago: $used_by"
    idle_since=$((uptime - used))
  fi
}

# Why something is to be done now, in `why`, and what, in `wanted`.
decide() {
  why='' wanted=$action

  text=
  read -r text 2>/dev/null < "$here/lease"
  if [ "$text" != "$lease_text" ]; then lease_text=$text leased_at=$uptime; fi

  load=
  if [ -n "$idle" ]; then
    read_load
    if [ -z "$load" ]; then
      idle_since=
      [ -n "$blind" ] || log "nvidia-smi does not tell the load: idle time is not counted"
      blind=1
    else
      blind=
      if [ "$load" -ge "$below" ]; then idle_since=; elif [ -z "$idle_since" ]; then idle_since=$uptime; fi
    fi
    # It is asked only when that matters.
    if [ -n "$idle_since" ] && [ $((uptime - idle_since)) -ge "$idle" ]; then heed_use; fi
  else
    idle_since='' blind=''
  fi

  spent=
  read -r spent 2>/dev/null < "$here/spent"
  if [ -n "$at" ] && [ "$at" != "$spent" ] && [ "$now" -ge "$at" ] && [ "$uptime" -ge "$time_from" ]; then
    why='time'
    [ -z "$belated" ] || wanted=stop
  elif [ -n "$idle_since" ] && [ $((uptime - idle_since)) -ge "$idle" ]; then
    why=idle
  elif [ -n "$lease" ] && [ $((uptime - leased_at)) -ge "$lease" ]; then
    why=lease
  else
    check_runs
    if [ -n "$run_wants" ]; then why=run wanted=$run_wants; fi
  fi
}
