# Ends the run's command before its machine is left: once nothing but logs and a status has been written for three seconds to its
# results, or for fifteen where several processes may write them, in the absolute `folder`, on a line each in `paths`, or after `most`
# seconds. Prints `settled whole` if no file can be half: it ended while nothing was being written, or all of it took the signal and
# ended by itself.

# The results' files that `find` finds, on a line each.
results() {
  printf '%s\n%s\n' "$paths" "$outward" | while IFS= read -r path; do
    if [ -e "$path" ]; then find -H "$path" -type f "$@"; fi
  done | sort -u
}

# Those that are newer than a file in `here`, but for logs and a status.
newer() {
  results -newer "$here/$1" > "$here/settle.newer"
  cat "$here/settle.logs" "$here/settle.status" > "$here/settle.apart"
  if [ -n "$watched" ]; then grep -vxF -f "$here/settle.apart" "$here/settle.newer"; else cat "$here/settle.newer"; fi
}

rested() {
  touch -d "@$(($(date +%s) - rest))" "$here/settle" && [ -z "$(newer settle | head -n 1)" ] && ! lacks_parts
}

# Whether parts of a checkpoint may still come: one that had none in the minute before is complete, or another program's.
lacks_parts() { results -exec stat -c '%Y here %n' {} + 2>/dev/null | berth_unfinished "$((begun - 60))" | grep -q .; }

# Of each file that is being written: its inode, its size at the first look and now, and its name.
sizes() {
  results -newer "$here/settle" | while IFS= read -r file; do stat -c '%i %s %s %n' "$file"; done 2>/dev/null
}

# Looks again at those that were written at each look so far, and are no shorter than before. Those with a log's name may begin and
# end meanwhile, as those of an epoch each do; what was ever rewritten is none.
look_again() {
  sizes | awk -v rewritten="$here/settle.rewritten" '
    { file = $0; sub("^[0-9]* [0-9]* [0-9]* ", "", file) }
    NR == FNR { inode[file] = $1; first[file] = $2; size[file] = $3; next }
    { seen[file] = 1 }
    !(file in inode) && is_log(file) { print $1, $2, $3, file; next }
    inode[file] == $1 && $3 >= size[file] { print $1, first[file], $3, file; next }
    file in inode { print file >> rewritten }
    END {
      for (file in inode)
        if (!(file in seen) && is_log(file)) print inode[file], first[file], size[file], file
    }
    function is_log(file) {
      sub(".*/", "", file)
      return tolower(file) ~ /'"$berth_log_names"'/
    }
  ' "$here/settle.sizes" - > "$here/settle.again" && mv -f "$here/settle.again" "$here/settle.sizes"
}

# A log is written all the time, and only grows, by little: what is written at once is larger, or was much shorter before, as
# only a young log was whose name says what it is.
find_logs() {
  awk '
    {
      grown = $3 - $2; known = $2
      sub("^[0-9]* [0-9]* [0-9]* ", "")
      name = $0; sub(".*/", "", name)
    }
    grown <= 0 || grown >= 1000000 { next }
    3 * grown < known || tolower(name) ~ /'"$berth_log_names"'/ { print }
  ' "$here/settle.sizes" | grep -vxF -f "$here/settle.rewritten" > "$here/settle.logs"
  echo / >> "$here/settle.logs"
}

# A status is small, and written again every few seconds at least, three times as often as any other file that is saved meanwhile: no
# part of a checkpoint. There may be several, if their names are those of texts. Needs `waited`.
find_status() {
  results -newer "$here/settle" -exec stat -c '%y %n' {} + >> "$here/settle.times" 2>/dev/null
  sort -u "$here/settle.times" | cut -d ' ' -f 4- | sort | uniq -c | sort -rn | sed 's/^ *//' | awk '
    NR == FNR { is_log[$0] = 1; next }
    { file = $0; sub("^[0-9]* ", "", file) }
    !(file in is_log) { times[++number] = $1; names[number] = file }
    END {
      for (i = 1; i <= number && times[i] > 3 && 4 * times[i] >= '"$waited"'; i++) {
        if (tolower(names[i]) ~ /[.](html|json|md|txt|xml|ya?ml)$/) texts++
        if ((i == 1 || texts == i) && times[i] >= 3 * times[i + 1]) found = i
      }
      for (i = 1; i <= found; i++) print names[i]
    }
  ' "$here/settle.logs" - | while IFS= read -r file; do find "$file" -size -128; done > "$here/settle.status"
}

is_status_open() {
  while IFS= read -r file; do
    [ -s "$file" ] && ! is_open "$file" || return 0
  done < "$here/settle.status"
  return 1
}

# Whether a process of the command has a file open that it can write to.
is_open() {
  goal=$(readlink -f "$1")
  for one in $(writers); do
    for handle in "/proc/$one/fd/"*; do
      [ "$(readlink "$handle")" = "$goal" ] || continue
      case $(sed -n 's/^flags:[[:space:]]*//p' "/proc/$one/fdinfo/${handle##*/}" 2>/dev/null) in *[12]) return 0 ;; esac
    done
  done
  return 1
}

# Whether all that is saved is one file, which nothing writes to now: it needs no rest between its parts. Of several processes
# each may have one.
is_saved_alone() {
  saved=$(newer settle.begun)
  case $saved in '' | *"$line_end"*) return 1 ;; esac
  results > "$here/settle.all"
  [ "$rest" -eq 4 ] || ! berth_has_kin "$saved" "$here/settle.all" || return
  ! is_open "$saved" && ! lacks_parts
}

# Whether the one file that was written within 15 seconds before the end was put in its place afterwards, so that it is whole. Both
# may come within one tick of the kernel's clock: then its folder changed at that very time, and the file was made before, or its
# folder changed later, as where an older one was removed. What is made and written in place within a tick looks like one that was
# renamed in it.
is_renamed_alone() {
  touch -d "@$((died - 15))" "$here/settle.begun"
  saved=$(newer settle.begun | while IFS= read -r file; do berth_is_temporary "$file" || printf '%s\n' "$file"; done)
  case $saved in '' | *"$line_end"*) return 1 ;; esac
  results > "$here/settle.all"
  ! berth_has_kin "$saved" "$here/settle.all" || return 1
  saved=$(readlink -f "$saved")
  ! berth_has_next "$saved" || return 0
  written=$(stat -c %y "$saved")
  [ "$written" = "$(stat -c %z "$saved")" ] || return 0
  [ -z "$(find "${saved%/*}" -maxdepth 0 -newer "$saved")" ] || return 0
  made=$(stat -c %w "$saved")
  case $made in [0-9]*) ;; *) return 1 ;; esac
  [ -s "$saved" ] && [ "$made" != "$written" ] && [ "$(stat -c %y "${saved%/*}")" = "$written" ]
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

# Whether several processes of the command may write a part each, as those of torchrun: they run the same program, with the same
# words but for numbers, and neither load data nor were forked from each other.
are_several() {
  for one in $(writers); do
    group_of "$one"
    words=$(words_of "$one")
    case $words in *multiprocessing*) continue ;; esac
    [ "$words" != "$(words_of "$parent")" ] && ! berth_is_shell "$one" && echo "$parent $words"
  done | sort | uniq -d | grep -q .
}

words_of() { tr '\0' ' ' 2>/dev/null < "/proc/$1/cmdline" | sed 's/[0-9]*//g'; }

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
rest=4
! are_several || rest=16
# After a while it is known what is a log.
begun=$(date +%s) watches=$((most / 4)) watched=
[ "$watches" -ge 3 ] || watches=3
line_end='
'
echo / > "$here/settle.logs"
: > "$here/settle.status"
: > "$here/settle.times"
echo / > "$here/settle.rewritten"
: > "$here/settle.begun"
rested
sizes > "$here/settle.sizes"
while there; do
  waited=$(($(date +%s) - begun))
  calm=
  ! rested || calm=1
  look_again
  find_status
  if [ "$waited" -ge "$watches" ] && [ "$waited" -lt "$most" ]; then watched=1 && find_logs; fi
  if [ -n "$calm$watched" ]; then
    # It stands still, or it could begin to write between this look and the signal.
    end STOP
    if { rested || { [ -n "$watched" ] && is_saved_alone; }; } && ! is_status_open; then
      fate=whole
      break
    fi
    end CONT
  fi
  [ "$waited" -lt "$most" ] || break
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
  # Who asked may be gone, and ask again.
  [ "$fate" != whole ] || echo yes > "$here/clean"
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
  if [ "${code:-0}" -ge 128 ] && [ ! -f "$here/clean" ] && ! is_renamed_alone; then fate=torn; fi
  [ ! -s "$here/rough" ] || read -r died < "$here/rough"
  if [ "$fate" = whole ]; then died="$died $code"; fi
  echo "$died" > "$here/alive"
elif [ ! -s "$here/alive" ]; then
  # Otherwise it last ran when it said so, as before a restart of the container.
  date +%s > "$here/alive"
fi
rm -f "$here"/settle "$here"/settle.*
echo "settled $fate"
