#!/bin/sh
# Berth's watchdog. It stops or destroys the instance that it runs on, and can touch no other: at a time, after so
# long without load on the GPUs, when Berth has not renewed its lease for so long, or when a run has ended that says
# so. It lives in one folder, ~/.berth/watchdog, and is gone with it.
#
#   sh /…/watchdog.sh start    sees to it that one is running
#   sh /…/watchdog.sh run      is the one that runs
#
# In its folder: config (name=value, written by Berth), lease (renewed when its text changes), key (the instance's own
# restricted key, where the container's environment does not have it), pid, log, state (for Berth to read), done (what
# it did last), spent (a time that is over).

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

is_number() {
  case $1 in '' | *[!0-9]*) return 1 ;; esac
  return 0
}

log() {
  printf '%s %s\n' "$now" "$*" >> "$here/log"
  logged=$((logged + 1))
  if [ "$logged" -ge 100 ]; then
    logged=0
    tail -n 300 "$here/log" > "$here/log.new" && mv -f "$here/log.new" "$here/log"
  fi
}

read_config() {
  instance='' url='' action=stop at='' idle='' below=5 lease='' tick=10 told='' told_up='' boot=''
  while IFS='=' read -r name value; do
    case $name in
      url) url=$value ;;
      boot) boot=$value ;;
      action) [ "$value" = destroy ] && action=destroy ;;
      *)
        is_number "$value" || continue
        case $name in
          instance) instance=$value ;;
          at) at=$value ;;
          idle) idle=$value ;;
          below) below=$value ;;
          lease) lease=$value ;;
          tick) tick=$value ;;
          told) told=$value ;;
          told_up) told_up=$value ;;
        esac
        ;;
    esac
  done 2>/dev/null < "$here/config"
}

# Where the rental's start script brought it, it may not know the instance: some deployments tell it.
read_instance() {
  [ -n "$instance" ] && return
  named=${CONTAINER_ID:-}
  [ -n "$named" ] || named=$(environment_of_container CONTAINER_ID)
  named=${named#C.}
  is_number "$named" && instance=$named
}

environment_of_container() {
  tr '\0' '\n' 2>/dev/null < /proc/1/environ | sed -n "s/^$1=//p"
}

# The instance's own key, good for this instance alone. It is on no command line, here or below.
read_key() {
  key=${CONTAINER_API_KEY:-}
  [ -n "$key" ] || { [ -r "$here/key" ] && read -r key < "$here/key"; }
  [ -n "$key" ] || key=$(environment_of_container CONTAINER_API_KEY)
  case $key in *[!A-Za-z0-9._~+/=-]*) key='' ;; esac
}

find_tools() {
  tools=
  command -v curl > /dev/null 2>&1 && tools="$tools curl"
  # busybox has a wget that can neither PUT nor DELETE.
  case $(wget --version 2>/dev/null) in *'GNU Wget'*) tools="$tools wget" ;; esac
  command -v python3 > /dev/null 2>&1 && tools="$tools python3"
}

# The tools take turns, so that one that does not work here does not keep it from working.
next_tool() {
  # shellcheck disable=SC2086
  set -- $tools
  tool=${1:-}
  [ $# -gt 1 ] && shift && tools="$* $tool"
}

with_curl() {
  printf 'header = "Authorization: Bearer %s"\n' "$key" |
    curl -q -sS -m 30 -K - -D - -o - -X "$1" -H 'Content-Type: application/json' ${3:+-d "$3"} "$url$2" 2>&1
}

# It reads its configuration from files alone, so the key lies in one for as long as that takes.
with_wget() {
  printf 'header = Authorization: Bearer %s\n' "$key" > "$here/wgetrc"
  HOME=$here wget --config="$here/wgetrc" -nv -S -O - --content-on-error --tries=1 --timeout=30 --max-redirect=0 \
    --method="$1" --header='Content-Type: application/json' ${3:+--body-data="$3"} "$url$2" 2>&1
  rm -f "$here/wgetrc"
}

with_python3() {
  printf '%s\n' "$key" | python3 -c '
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen
method, url, body = sys.argv[1:4]
headers = {"Authorization": "Bearer " + sys.stdin.readline().strip(), "Content-Type": "application/json"}
request = Request(url, method=method, headers=headers, data=body.encode() or None)
try:
    answer = urlopen(request, timeout=30)
except HTTPError as refusal:
    answer = refusal
print("HTTP/1.1", answer.status if hasattr(answer, "status") else answer.code)
print("Date:", answer.headers.get("Date", ""))
print()
print(answer.read(65536).decode("utf-8", "replace"))
' "$1" "$url$2" "${3:-}" 2>/dev/null
}

# Asks the service: method, path, body. Sets `status` (empty without an answer) and `date`, as its header has it.
ask() {
  status='' date='' refused=''
  next_tool
  [ -n "$tool" ] || return 1
  answer=$("with_$tool" "$@")
  while IFS= read -r line; do
    # wget indents what the server said.
    line=${line#"${line%%[! ]*}"}
    case $line in
      HTTP/*) status=${line#* } status=${status%%[!0-9]*} ;;
      [Dd]ate:*) date=${line#*: } ;;
      *'"success":false'* | *'"success": false'*) refused=1 ;;
    esac
  done << ANSWER
$answer
ANSWER
  [ -n "$status" ]
}

# `Sat, 21 Nov 2026 06:58:33 GMT` as epoch seconds, in `epoch`; empty when it is something else.
read_date() {
  epoch=
  # shellcheck disable=SC2086
  set -- $1
  [ $# -ge 5 ] || return
  day=${2#0} year=$4 clock=$5
  case $3 in
    Jan) month=1 ;; Feb) month=2 ;; Mar) month=3 ;; Apr) month=4 ;; May) month=5 ;; Jun) month=6 ;;
    Jul) month=7 ;; Aug) month=8 ;; Sep) month=9 ;; Oct) month=10 ;; Nov) month=11 ;; Dec) month=12 ;;
    *) return ;;
  esac
  hours=${clock%%:*} rest=${clock#*:} minutes=${clock#*:} seconds=${rest#*:}
  minutes=${minutes%%:*} seconds=${seconds%%[!0-9]*}
  is_number "$day" && is_number "$year" && is_number "$hours" && is_number "$minutes" && is_number "$seconds" || return
  # Years begin in March here, so that a leap day is the last one.
  y=$year m=$((month - 3))
  [ "$m" -lt 0 ] && m=$((m + 12)) && y=$((y - 1))
  days=$((365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468))
  epoch=$((days * 86400 + ${hours#0} * 3600 + ${minutes#0} * 60 + ${seconds#0}))
}

# How far the service's time is ahead of `uptime`: from its own answer; else as Berth told it, while the machine has not
# been started again since; else from the container's clock, until the service answers.
find_time() {
  read_uptime
  sure=1
  [ -n "$url" ] && key='' && ask GET /api/v0/ && read_date "$date" && [ -n "$epoch" ] && ahead=$((epoch - uptime)) && return
  this_boot=
  read -r this_boot 2>/dev/null < /proc/sys/kernel/random/boot_id
  if [ -n "$told" ] && [ -n "$told_up" ] && [ "$boot" = "$this_boot" ] && [ "$uptime" -ge "$told_up" ]; then
    ahead=$((told - told_up))
    return
  fi
  sure=
  ahead=$(($(date +%s) - uptime))
}

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
  rm -f "$here/wgetrc"
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
look_at_runs() {
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
    look_at_runs
    if [ -n "$run_wants" ]; then why=run wanted=$run_wants; fi
  fi
}

# One try. What does not work is tried again by later looks, while the reason holds.
act() {
  if [ "$tries" -eq 0 ]; then
    case $why in
      time) log "its time has come: $wanted" ;;
      idle) log "no load above $below % for $((uptime - idle_since)) s: $wanted" ;;
      lease) log "Berth has not renewed the lease for $((uptime - leased_at)) s: $wanted" ;;
      run) log "run $run_name has ended: $wanted" ;;
    esac
  fi
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
  elif [ "${status%??}" = 2 ] && [ -z "$refused" ]; then
    log "try $tries with $tool: done ($status)"
    printf '%s %s %s\n' "$now" "$wanted" "$why" > "$here/done"
    acted=1 tries=0 next=300
  elif [ "$status" = 404 ]; then
    log "try $tries with $tool: the instance is gone ($status)"
    printf '%s %s %s\n' "$now" "$wanted" "$why" > "$here/done"
    leave
  else
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
    [ -z "$idle_since" ] || echo "idle_for=$((uptime - idle_since))"
    [ -z "$lease" ] || echo "leased_for=$((uptime - leased_at))"
    [ -z "$why" ] || echo "why=$why"
    [ "$tries" -eq 0 ] || echo "tries=$tries"
  } > "$here/state.new" && mv -f "$here/state.new" "$here/state"
}

# What a start of the container, or a long sleep of it, means: what was counted is counted anew, and a time that has
# been served, or was missed by more than a quarter of an hour, is over; so is the end of a run that has been served.
begin() {
  read_config
  find_tools
  find_time
  read_now
  lease_text='' leased_at=$uptime idle_since='' tries=0 next_try=0 why='' blind='' looked_at=$uptime timed_at=$uptime
  if [ -n "$at" ] && [ "$now" -ge "$at" ]; then
    if [ -f "$here/done" ] || [ $((now - at)) -gt 900 ]; then echo "$at" > "$here/spent"; fi
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
    if [ $((uptime - looked_at)) -gt $((tick * 3 + 60)) ]; then begin; fi
    looked_at=$uptime
    if [ -z "$sure" ] && [ $((uptime - timed_at)) -ge 60 ]; then
      timed_at=$uptime
      find_time
      read_now
    fi
    read_config
    before=$why
    decide
    if [ "$why" != "$before" ]; then tries=0 next_try=0; fi
    if [ -n "$why" ] && [ "$uptime" -ge "$next_try" ]; then act; fi
    tell_state
    rest "$tick"
  done
}

start() {
  is_alive && return
  if command -v setsid > /dev/null 2>&1; then
    setsid sh "$here/watchdog.sh" run < /dev/null > /dev/null 2>&1 &
  else
    nohup sh "$here/watchdog.sh" run < /dev/null > /dev/null 2>&1 &
  fi
}

case ${1:-} in
  run) run ;;
  start) start ;;
  *) echo "usage: sh $0 start" >&2 && exit 2 ;;
esac
