# Ends the run's command before its machine is left: once nothing has been written for three seconds to its results, in the
# absolute `folder`, on a line each in `paths`, or after `most` seconds. Prints `settled whole` if no file can be half: it ended
# while nothing was being written, or all of it took the signal and ended by itself.

changed() {
  printf '%s\n%s\n' "$paths" "$outward" | while IFS= read -r path; do
    if [ -e "$path" ]; then find -H "$path" -type f -newer "$here/settle"; fi
  done | head -n 1
}

rested() {
  touch -d "@$(($(date +%s) - 4))" "$here/settle" && [ -z "$(changed)" ]
}

# The processes of the command, which may outlive the shell that waits for them, or be in groups of their own. Not those that
# write no results: the shells that Berth starts, and what only waits.
writers() {
  for one in $(grep -ls "BERTH_PROGRAM=$run\." /proc/[0-9]*/environ); do
    one=${one%/environ}
    case $(cat "$one/comm" 2>/dev/null) in '' | sleep) continue ;; esac
    case $(tr '\0' ' ' 2>/dev/null < "$one/cmdline") in '' | *sh\ *"$here/"*) continue ;; esac
    echo "${one#/proc/}"
  done
}

group_of() {
  stat=
  read -r stat 2>/dev/null < "/proc/$1/stat"
  # shellcheck disable=SC2086
  set -- ${stat##*) }
  parent=$2 of=$3
}

# The processes of the command's group, with the shells that Berth started.
members() {
  for one in /proc/[0-9]*; do
    one=${one#/proc/}
    group_of "$one"
    [ "$of" != "$group" ] || echo "$one"
  done
}

# Signals the command's group, and what is outside of it: SIGTERM only what that was started by, which ends the rest, and where
# some take it only those and the shells around them.
end() {
  strays=
  for one in $(writers); do
    group_of "$one"
    [ -z "$was_going" ] || [ "$of" != "$group" ] || continue
    if [ "$1" = TERM ]; then
      group_of "$parent"
      [ "$of" = "$group" ] || continue
    fi
    strays="$strays $one"
  done
  if [ "$1" = TERM ] && [ -n "$berth_takers" ]; then
    for one in $(members) $strays; do
      ! berth_takes "$one" 15 && ! berth_is_shell "$one" || kill -TERM "$one" 2>/dev/null
    done
    return
  fi
  # The number of a run that has ended may be another program's.
  [ -z "$was_going" ] || kill "-$1" "-$group" 2>/dev/null || kill "-$1" "$group" 2>/dev/null
  # shellcheck disable=SC2086
  [ -z "$strays" ] || kill "-$1" $strays 2>/dev/null
}

there() { is_going || [ -n "$(writers)" ]; }

# Whether something that was told to end has not.
stays() {
  [ -n "$berth_takers" ] || {
    there
    return
  }
  for one in $berth_takers; do ! berth_is_there "$one" || return 0; done
  return 1
}

fate=torn was_going='' berth_takers=''
cd "$folder" || exit 1
outward=$(printf '%s\n' "$paths" | while IFS= read -r path; do berth_outward "$path"; done)
# What outlives its shell was told before, and had its time, or was left behind.
if is_going; then was_going=1; elif [ "$most" -gt 20 ]; then most=20; fi
group=$pid
begun=$(date +%s)
while there; do
  if rested; then
    # It stands still, or it could begin to write between this look and the signal.
    end STOP
    if rested; then
      fate=whole
      break
    fi
    end CONT
  fi
  [ $(($(date +%s) - begun)) -lt "$most" ] || break
  sleep 1
done
if [ -n "$was_going" ] && is_going; then
  # shellcheck disable=SC2046
  berth_find_takers $(writers)
  [ -z "$berth_takers" ] || fate=whole
  ended=$(date +%s)
  end TERM
  end CONT
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    stays || break
    sleep 1
  done
  ! stays || fate=torn
  for _ in 1 2 3; do
    there || break
    sleep 1
  done
  ! there || end KILL
  # What doesn't take the signal died by it, however long what has started it stayed.
  [ -z "$berth_takers" ] || ended=$(date +%s)
  echo "$ended" > "$here/alive"
elif died=$(stat -c %Y "$here/code" 2>/dev/null); then
  code=0
  read -r code 2>/dev/null < "$here/code"
  if there; then
    end KILL
    died=$(date +%s)
  else
    fate=whole
  fi
  # What died by a signal may have died while it wrote, unless it took that.
  if [ "${code:-0}" -ge 128 ] && [ ! -f "$here/clean" ]; then fate=torn; fi
  [ ! -s "$here/rough" ] || read -r died < "$here/rough"
  if [ "$fate" = whole ]; then died="$died $code"; fi
  echo "$died" > "$here/alive"
elif [ ! -s "$here/alive" ]; then
  # Otherwise it last ran when it said so, as before a restart of the container.
  date +%s > "$here/alive"
fi
rm -f "$here/settle"
echo "settled $fate"
