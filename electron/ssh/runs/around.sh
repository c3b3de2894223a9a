# Runs a command in the environment that its caller has prepared, and again where it fails: `sh around.sh HERE SHELL
# OPTIONS…`. In HERE: tried, the command; retry, how often it is tried again, the first pause in seconds, and after which
# exit codes, or error for any; and attempts, as this writes it: how many have failed, with which code the last one, and at
# which uptime the next one begins, 0 once it has. Its names begin with berth_, since the command has all others.

berth_here=$1
shift
read -r berth_times berth_pause berth_codes < "$berth_here/retry"

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
  echo "$*" > "$berth_here/attempts.new" && mv -f "$berth_here/attempts.new" "$berth_here/attempts"
}

berth_failed=0 berth_quick=0
while :; do
  berth_read_uptime
  berth_begun=$berth_uptime
  "$@" "$berth_here/tried" < /dev/null
  berth_code=$?
  [ "$berth_code" -ne 0 ] || exit 0
  berth_read_uptime
  berth_quick=$((berth_uptime - berth_begun < 60 ? berth_quick + 1 : 0))
  berth_is_retried "$berth_code" && [ "$berth_failed" -lt "$berth_times" ] || exit "$berth_code"
  if [ "$berth_quick" -ge 3 ]; then
    echo 'Berth: the command failed within a minute three times in a row, so it is not tried again.'
    exit "$berth_code"
  fi
  berth_failed=$((berth_failed + 1))
  case $berth_code in
    124) berth_why=' (timed out)' ;;
    137) berth_why=' (out of memory)' ;;
    *) berth_why= ;;
  esac
  echo "Berth: exit code $berth_code$berth_why. Retry $berth_failed of $berth_times begins in $berth_pause s."
  berth_note "$berth_failed $berth_code $((berth_uptime + berth_pause))"
  sleep "$berth_pause"
  berth_note "$berth_failed $berth_code 0"
  berth_pause=$((berth_pause * 2 > 600 ? 600 : berth_pause * 2))
done
