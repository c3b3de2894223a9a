# Runs a command in the environment that its caller has prepared, with what goes on around it: `sh around.sh HERE SHELL
# OPTIONS…`. It is tried again where it fails, and told before its machine is stopped, once this gets SIGUSR2. In HERE:
#   tried        the command
#   retry        how often it is tried again, the first pause in seconds, and after which exit codes, or error for any
#   attempts     written here: how many have failed, the last one's code, and at which uptime the next begins, 0 once it has
#   before_stop  the signal for the command before a stop, and for how many seconds the stop waits; hook, what runs then
#   store.sh     stores the results as soon as there is store.now, and removes that
#   around       written here: the number of this process; stopped: at which uptime the command had its time before a stop;
#                clean: it ended by itself then, so that no file is half; rough: since when files may be, in epoch seconds
# Its names begin with berth_, since the command has all others.

berth_here=$1
berth_shell=$2
shift 2
berth_options=$*
berth_times=0 berth_told='' berth_all=''
read -r berth_times berth_pause berth_codes 2>/dev/null < "$berth_here/retry"
trap 'berth_told=1' USR2

# Seconds of a clock that nobody sets.
berth_read_uptime() {
  berth_uptime=
  read -r berth_uptime _ 2>/dev/null < /proc/uptime
  berth_uptime=${berth_uptime%%.*}
  case $berth_uptime in '' | *[!0-9]*) berth_uptime=$(date +%s) ;; esac
}

berth_is_retried() {
  for berth_one in $berth_codes; do
    [ "$berth_one" != error ] && [ "$berth_one" != "$1" ] || return 0
  done
  return 1
}

berth_note() {
  (umask 077 && echo "$2" > "$berth_here/$1.new" && mv -f "$berth_here/$1.new" "$berth_here/$1")
}

# shellcheck disable=SC2086
berth_start() {
  "$berth_shell" $berth_options "$berth_here/$1" < /dev/null &
  berth_child=$!
}

# Waits for a child, whose exit code is in `berth_code` then, and tells the command before a stop meanwhile.
berth_wait() {
  berth_code=
  while :; do
    wait "$1"
    berth_now=$?
    # One that ended just when the signal came is not known to a second wait.
    if [ -n "$berth_code" ] && [ "$berth_now" -eq 127 ]; then return; fi
    berth_code=$berth_now
    [ -n "$berth_told" ] || return
    berth_told=''
    berth_before_stop "$1"
  done
}

# A process and all that it has started, in `berth_all`.
berth_add_tree() {
  berth_all="$berth_all $1"
  for berth_each in $(cat "/proc/$1/task/"*/children 2>/dev/null); do berth_add_tree "$berth_each"; done
}

# Whether it is a shell with children, which write in its place.
berth_only_waits() {
  berth_is_shell "$1" && [ -n "$(cat "/proc/$1/task/"*/children 2>/dev/null)" ]
}

# Waits for a process until the time is over: then it may be in the midst of a file.
berth_outlast() {
  while berth_is_there "$1" && [ "$berth_uptime" -lt "$berth_until" ]; do
    sleep 0.2 2>/dev/null || sleep 1
    berth_read_uptime
  done
  ! berth_is_there "$1" || berth_rough=${berth_rough:-$(date +%s)}
}

berth_newer_than() {
  find . -path ./.berth -prune -o -type f -newer "$berth_here/$1" -print 2>/dev/null | head -n 1
}

# Whether a file below the command's folder was written since the signal, and none in the last three seconds.
berth_has_saved() {
  [ -n "$(berth_newer_than signalled)" ] || return
  (umask 077 && touch -d "@$(($(date +%s) - 4))" "$berth_here/rests")
  [ -z "$(berth_newer_than rests)" ]
}

# Ends what the hook has left, as a program that goes on in a session of its own: it may write results for ever.
berth_end_left() {
  for berth_each in $(grep -lsF "BERTH_HOOK=$BERTH_PROGRAM" /proc/[0-9]*/environ); do
    berth_each=${berth_each%/environ}
    kill -KILL "${berth_each#/proc/}" 2>/dev/null
  done
}

# Sends the signal, starts the hook, and waits until both have done: for as long as agreed, then the hook is ended.
berth_before_stop() {
  read -r berth_signal berth_most 2>/dev/null < "$berth_here/before_stop" || return
  berth_read_uptime
  berth_until=$((berth_uptime + berth_most))
  berth_times=0 berth_all='' berth_waits='' berth_hook='' berth_rough='' berth_savers=''
  (umask 077 && : > "$berth_here/signalled")
  berth_add_tree "$1"
  # What doesn't take SIGTERM dies by it, perhaps while it writes: where nothing takes it, it saves nothing.
  if [ "$berth_signal" = TERM ]; then
    # shellcheck disable=SC2086
    berth_find_takers $berth_all
    [ -n "$berth_is_heard" ] || berth_all=''
  fi
  for berth_each in $berth_all; do
    case $berth_signal in
      TERM)
        if [ -n "$berth_takers" ]; then
          # What is started by one that passes it on gets it already.
          ! berth_passes_on "$berth_each" || continue
          berth_takes "$berth_each" 15 || berth_only_waits "$berth_each" || continue
        else
          # It dies now, however long what has started it stays.
          berth_only_waits "$berth_each" || berth_rough=$(date +%s)
        fi
        ;;
      USR1) berth_takes "$berth_each" 10 || continue ;;
      USR2) berth_takes "$berth_each" 12 || continue ;;
    esac
    kill "-$berth_signal" "$berth_each" 2>/dev/null && berth_waits="$berth_waits $berth_each"
  done
  # A signal but SIGTERM need not end the command.
  [ "$berth_signal" = TERM ] || berth_savers=$berth_waits berth_waits=''
  berth_stopping=$((berth_until + 300))
  if [ -f "$berth_here/hook" ]; then
    echo "Berth: the machine is about to be stopped, in $berth_most s at most."
    export BERTH_HOOK="$BERTH_PROGRAM"
    berth_start hook
    berth_hook=$berth_child
    unset BERTH_HOOK
  fi
  for berth_each in $berth_hook $berth_waits; do berth_outlast "$berth_each"; done
  # What was let be until then ends by itself, as tee with its input, or is ended.
  berth_ends=$((berth_uptime + 3))
  for berth_each in $berth_all; do
    [ "$berth_signal" = TERM ] || break
    while berth_is_there "$berth_each" && [ "$berth_uptime" -lt "$berth_ends" ] && [ "$berth_uptime" -lt "$berth_until" ]; do
      sleep 0.2 2>/dev/null || sleep 1
      berth_read_uptime
    done
    kill -TERM "$berth_each" 2>/dev/null
  done
  if [ -n "$berth_hook" ]; then
    berth_all=''
    berth_is_there "$berth_hook" && echo "Berth: what was to run before the stop has not ended in $berth_most s, and is ended."
    berth_add_tree "$berth_hook"
    # shellcheck disable=SC2086
    kill -KILL $berth_all 2>/dev/null
  fi
  # What took the signal may only begin to save, whatever the hook has done: until files have changed, and rest for three seconds.
  for berth_each in $berth_savers; do
    while berth_is_there "$berth_each" && [ "$berth_uptime" -lt "$berth_until" ]; do
      ! berth_has_saved || break 2
      sleep 1
      berth_read_uptime
    done
  done
  # A last snapshot of the results, as far as there is time.
  if [ -f "$berth_here/store.sh" ]; then : > "$berth_here/store.now"; fi
  while [ -f "$berth_here/store.now" ] && [ "$berth_uptime" -lt "$berth_until" ]; do
    sleep 0.2 2>/dev/null || sleep 1
    berth_read_uptime
  done
  [ -z "$berth_hook" ] || berth_end_left
  berth_note stopped "$berth_uptime"
}

berth_failed=0 berth_quick=0 berth_stopping=0
berth_note around $$
while :; do
  berth_read_uptime
  berth_begun=$berth_uptime
  berth_start tried
  berth_wait "$berth_child"
  berth_read_uptime
  # What ends because it was asked to is not done, whatever it says.
  [ "$berth_code" -ne 0 ] || [ "$berth_uptime" -lt "$berth_stopping" ] || exit 0
  if [ "$berth_stopping" -gt 0 ]; then
    if [ -n "$berth_rough" ]; then
      berth_note rough "$berth_rough"
      [ "$berth_code" -ge 128 ] || berth_code=143
    elif [ "$berth_signal" = TERM ] || [ "$berth_code" -lt 128 ]; then berth_note clean yes; fi
    exit $((berth_code == 0 ? 143 : berth_code))
  fi
  berth_quick=$((berth_uptime - berth_begun < 60 ? berth_quick + 1 : 0))
  berth_is_retried "$berth_code" && [ "$berth_failed" -lt "$berth_times" ] || exit "$berth_code"
  if [ "$berth_quick" -ge 3 ]; then
    echo 'Berth: the command failed within a minute three times in a row, so it is not tried again.'
    exit "$berth_code"
  fi
  berth_failed=$((berth_failed + 1))
  berth_last=$berth_code
  case $berth_code in
    124) berth_why=' (timed out)' ;;
    137) berth_why=' (killed, often out of memory)' ;;
    *) berth_why= ;;
  esac
  echo "Berth: exit code $berth_code$berth_why. Retry $berth_failed of $berth_times begins in $berth_pause s."
  berth_note attempts "$berth_failed $berth_code $((berth_uptime + berth_pause))"
  sleep "$berth_pause" &
  berth_wait $!
  [ "$berth_stopping" -eq 0 ] || exit "$berth_last"
  berth_note attempts "$berth_failed $berth_last 0"
  berth_pause=$((berth_pause * 2 > 600 ? 600 : berth_pause * 2))
done
