# What the scripts below share. Berth gives it to `sh -s`, after a line that sets `run`, the run's id.

login_umask=$(umask)
umask 077
here=${HOME:-/root}/.berth/runs/$run

is_going() {
  pid=
  read -r pid 2>/dev/null < "$here/pid"
  case $pid in '' | *[!0-9]*) return 1 ;; esac
  kill -0 "$pid" 2>/dev/null || return 1
  # After a restart of the container the number may be another program's.
  [ -r "/proc/$pid/cmdline" ] || return 0
  case $(tr '\0' ' ' 2>/dev/null < "/proc/$pid/cmdline") in *"$here/run.sh"*) return 0 ;; esac
  return 1
}
