# What a command's processes make of a signal that is to end them. Its names begin with berth_, as those of around.sh.

# Whether a process has a handler of its own for the signal with that number: others would end by it.
berth_takes() {
  berth_mask=$(sed -n 's/^SigCgt:.*\([0-9a-f]\{8\}\)$/\1/p' "/proc/$1/status" 2>/dev/null)
  [ $(((0x${berth_mask:-0} >> ($2 - 1)) & 1)) -eq 1 ]
}

berth_is_there() {
  kill -0 "$1" 2>/dev/null && ! grep -qs '^State:.Z' "/proc/$1/status"
}

berth_is_shell() {
  case $(cat "/proc/$1/comm" 2>/dev/null) in *sh | busybox) ;; *) false ;; esac
}

# The files that a process has open to write in, but for what it prints, what it only adds to, as to a log, and what is gone
# with the machine.
berth_written() {
  berth_place=$(pwd -P)
  for berth_fd in "/proc/$1/fdinfo/"*; do
    berth_fd=${berth_fd##*/}
    case $berth_fd in [012]) continue ;; esac
    berth_flags=$(sed -n 's/^flags:[[:space:]]*\(0[0-7]*\)$/\1/p' "/proc/$1/fdinfo/$berth_fd" 2>/dev/null)
    [ $((${berth_flags:-0} & 3)) -ne 0 ] && [ $((${berth_flags:-0} & 02000)) -eq 0 ] || continue
    berth_file=$(readlink "/proc/$1/fd/$berth_fd")
    case $berth_file in
      "$berth_place"/*) echo "$berth_file" ;;
      /proc/* | /sys/* | /dev/* | /tmp/* | /run/*) ;;
      /*) echo "$berth_file" ;;
    esac
  done
}

# Whether it passes signals on to what it has started.
berth_passes_on() {
  [ "$(cat "/proc/$1/comm" 2>/dev/null)" = timeout ]
}

berth_has_started() {
  berth_child_of=$2
  while [ "${berth_child_of:-0}" -gt 1 ]; do
    [ "$berth_child_of" != "$1" ] || return 0
    berth_child_of=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$berth_child_of/status" 2>/dev/null)
  done
  return 1
}

# Whether a process may be one of several that write a part each, as those of torchrun: it runs the same program as one of the
# takers, with other words, and is neither a loader of data nor what has started that.
berth_may_share() {
  berth_words=$(tr '\0' ' ' 2>/dev/null < "/proc/$1/cmdline")
  case $berth_words in *multiprocessing*) return 1 ;; esac
  berth_alike=''
  for berth_taker in $berth_takers; do
    ! berth_has_started "$1" "$berth_taker" || return 1
    [ "$(readlink "/proc/$1/exe")" = "$(readlink "/proc/$berth_taker/exe")" ] || continue
    [ "$(tr '\0' ' ' 2>/dev/null < "/proc/$berth_taker/cmdline")" != "$berth_words" ] || return 1
    berth_alike=1
  done
  [ -n "$berth_alike" ]
}

# Those of these processes that take SIGTERM, in `berth_takers`. None where another one seems to write files, which would be
# half: it has one open that none of them has, as its parent's, or may write a part of what they do. Any other is a helper, as
# what watches the GPU or loads data, and is let be until they have ended: they may notice its end, or print to it. Looks for a
# second, since a file is soon written. `berth_is_heard`: some take it, whatever the others do.
berth_find_takers() {
  berth_takers='' berth_others='' berth_is_heard=''
  for berth_each in "$@"; do
    case $(cat "/proc/$berth_each/comm" 2>/dev/null) in '' | tee | sleep) continue ;; esac
    ! berth_passes_on "$berth_each" || continue
    if berth_takes "$berth_each" 15; then
      berth_takers="$berth_takers $berth_each" berth_is_heard=1
    elif ! berth_is_shell "$berth_each"; then
      berth_others="$berth_others $berth_each"
    fi
  done
  for _ in 1 2 3 4 5; do
    [ -n "$berth_takers" ] && [ -n "$berth_others" ] || return 0
    berth_theirs=$(for berth_each in $berth_takers; do berth_written "$berth_each"; done)
    for berth_each in $berth_others; do
      if berth_may_share "$berth_each" || berth_written "$berth_each" | grep -q -v -F -x -e "$berth_theirs"; then
        berth_takers=''
        return 0
      fi
    done
    sleep 0.2 2>/dev/null || sleep 1
  done
}
