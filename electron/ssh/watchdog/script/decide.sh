# The watchdog: whether there is a reason to act now.

# The highest load of all GPUs in percent, in `load`; empty when it cannot be known.
read_load() {
  load=
  if [ -n "$has_timeout" ]; then
    loads=$(timeout 20 nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader,nounits 2>/dev/null)
  else
    loads=$(nvidia-smi --query-gpu=utilization.gpu --format=csv,noheader,nounits 2>/dev/null)
  fi || return
  for one in $loads; do
    is_number "$one" || { load='' && return; }
    if [ -z "$load" ] || [ "$one" -gt "$load" ]; then load=$one; fi
  done
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
  else
    idle_since=
  fi

  spent=
  read -r spent 2>/dev/null < "$here/spent"
  if [ -n "$at" ] && [ "$at" != "$spent" ] && [ "$now" -ge "$at" ]; then
    why='time'
  elif [ -n "$idle_since" ] && [ $((uptime - idle_since)) -ge "$idle" ]; then
    why=idle
  elif [ -n "$lease" ] && [ $((uptime - leased_at)) -ge "$lease" ]; then
    why=lease
  else
    check_runs
    if [ -n "$run_wants" ]; then why=run wanted=$run_wants; fi
  fi
}
