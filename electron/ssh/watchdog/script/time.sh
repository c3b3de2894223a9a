# The watchdog: what time it is for the service, whatever the container's clock says.

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

# How far the service's time is ahead of `uptime`: as Berth told it, which its time to act goes by, while the machine has
# not been started again since; else from the service's answer; else from the container's clock, until the service answers.
find_time() {
  read_uptime
  sure=1
  this_boot=
  read -r this_boot 2>/dev/null < /proc/sys/kernel/random/boot_id
  if [ -n "$told" ] && [ -n "$told_up" ] && [ "$boot" = "$this_boot" ] && [ "$uptime" -ge "$told_up" ]; then
    ahead=$((told - told_up))
    return
  fi
  [ -n "$url" ] && key='' && ask GET /api/v0/ && read_date "$date" && [ -n "$epoch" ] && ahead=$((epoch - uptime)) && return
  sure=
  ahead=$(($(date +%s) - uptime))
}
