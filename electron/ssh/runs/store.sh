# Stores a run's results in snapshots of restic beside its command, and brings back the last complete one. Berth puts it into
# the run's folder: `sh store.sh HERE loop`, or `restore`, which does that where `store.restores` says so, or where it was to be
# done before on this machine and could not be. It fails where a snapshot may be there and can't be had. In HERE:
#   store        on a line each: seconds between two, the run, restic's repository, the folder in the home folder, and the
#                results in it; store.pass has the password, and store.key a private
#                SSH key, store.host the server's key, or store.env variables
#   store.now    someone else's: there is to be a snapshot at once, after which it is removed
#   stored       written here: ok, waits or failed, when the last complete snapshot began, 0 for none, and why it failed
# A snapshot counts once all its files were left alone for three seconds before it and while it was made, but for those that
# only grow, as logs do, and once a minute has passed or no part of a checkpoint seems to be missing. It's of a copy, unless
# that is too large: then a second small snapshot names each that counts, so that a store that takes nothing back will do.

here=$1
umask 077
{
  read -r every
  read -r run
  read -r repository
  read -r folder
} < "$here/store" || exit 1
sed 1,4d "$here/store" > "$here/store.paths"
home=${HOME:-/root}
# Where Berth puts a restic that the image lacks.
PATH=$PATH:$home/.berth/bin
cd "$home/$folder" || exit 1
export RESTIC_REPOSITORY="$repository" RESTIC_PASSWORD_FILE="$here/store.pass" GOMAXPROCS=2
export RESTIC_CACHE_DIR="$home/.berth/restic" AWS_EC2_METADATA_DISABLED=true TZ=UTC0
if [ -f "$here/store.env" ]; then
  while IFS= read -r line; do export "${line?}"; done < "$here/store.env"
fi
ssh=
case $repository in
  sftp://*)
    target=${repository#sftp://}
    target=${target%%/*}
    port=22
    case $target in *:*) port=${target##*:} target=${target%:*} ;; esac
    # One that isn't named is trusted at first sight.
    hosts=$here/store.hosts strict=accept-new
    if [ -f "$here/store.host" ]; then hosts=$here/store.host strict=yes; fi
    ssh="ssh -p $port -i '$here/store.key' -o IdentitiesOnly=yes -o BatchMode=yes -o StrictHostKeyChecking=$strict"
    ssh="$ssh -o HostKeyAlias=berth-store -o 'UserKnownHostsFile=$hosts' -o GlobalKnownHostsFile=/dev/null -o ConnectTimeout=20 -o ServerAliveInterval=20 $target -s sftp"
    ;;
esac
last=0
read -r _ last _ 2>/dev/null < "$here/stored"

note() {
  printf '%s %s %s\n' "$1" "${last:-0}" "$2" > "$here/stored.new" && mv -f "$here/stored.new" "$here/stored"
}

# The last line of what restic says is in `$here/store.log`. It ends with this, and after `most` seconds: before 0.17 it waits for
# ever for a server that answers nothing. What it has sent by then isn't sent again.
most=3600
store() {
  [ -z "$ssh" ] || set -- --option "sftp.command=$ssh" ${many:+--option "$many"} "$@"
  nice -n 10 timeout "$most" restic --quiet "$@" < "${input:-/dev/null}" 2> "$here/store.log" &
  child=$!
  wait $child
  set -- $?
  child=
  [ "$1" -ne 124 ] || echo 'it answered nothing for too long, or is too slow' >> "$here/store.log"
  return "$1"
}
trap 'kill $child 2>/dev/null; kill -KILL $nap 2>/dev/null; wait; exit' TERM

# An SFTP server says no more than this of a full disk or one that is read-only, and restic at its end no more than that it can't
# make its lock.
why() {
  if grep -q 'Write: sftp: .*SSH_FX_FAILURE' "$here/store.log"; then
    echo 'its server refuses to write: the disk or a quota there may be full'
    return
  fi
  if grep -q 'OpenFile: sftp: .*SSH_FX_FAILURE' "$here/store.log"; then
    echo 'its server makes no new files: the disk there may be read-only, or full'
    return
  fi
  reason=$({ grep '^subprocess ssh: ' "$here/store.log" || grep '^Fatal: ' "$here/store.log" || grep -v '^$' "$here/store.log"; } |
    tail -n 1 | sed 's/^Fatal: //')
  case $reason in
    *'unable to create lock in backend')
      tried=$(sed -n 's/.* returned error, retrying after [^:]*: //p' "$here/store.log" | tail -n 1)
      reason=${tried:-$reason}
      ;;
  esac
  printf '%s\n' "$reason" | cut -c 1-200
}

# Whether the store says that nothing was ever stored there, after a command that ended with this code. Anything else that it
# says, such as that it knows no such login, may be over soon.
is_empty() {
  [ "$1" -ne 10 ] || return 0
  grep '^Fatal: ' "$here/store.log" | grep -q -E '(<config/>|file|specified key|specified bucket) does not exist'
}

install_restic() {
  if command -v apt-get > /dev/null; then
    { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends restic openssh-client; }
  elif command -v apk > /dev/null; then
    apk add --quiet restic openssh-client
  elif command -v dnf > /dev/null; then
    dnf -q -y install restic
  fi > "$here/store.log" 2>&1 < /dev/null
  command -v restic > /dev/null
}

# Before 0.17 an upload over SFTP waits for the answer to each 32 KB: with many at once, a server far away takes half as long. Old
# ones don't have the option.
many=
need_restic() {
  command -v restic > /dev/null || install_restic || return
  [ -z "$ssh" ] || [ -n "$many" ] || ! restic options 2> /dev/null | grep -q 'sftp\.connections' || many=sftp.connections=20
}

# The results in a list, each with its links that lead out of it.
all_of() {
  while IFS= read -r path; do
    printf '%s\n' "$path"
    berth_outward "$path"
  done < "$1"
}

# Files that were changed or renamed since a mark, with their sizes; not those that plainly aren't ready yet.
newer=-newer
find "$here/store" -cnewer "$here/store" > /dev/null 2>&1 && newer=-cnewer
changed() {
  all_of "$here/store.paths" | while IFS= read -r path; do
    if [ -e "$path" ]; then find -H "$path" -type f "$newer" "$1" -exec stat -c '%s %n' {} +; fi
  done | grep -v -E '(\.tmp|\.part|\.incomplete|~|/\.[^/]*\.swp)$' | grep -v -F -x -f "$here/store.logs"
}

# Whether parts of a checkpoint may still come, for a minute: what lacks them for longer is another program's folder, or a log's.
lacking=
lacks_parts() {
  all_of "$here/store.paths" | while IFS= read -r path; do find -H "$path" -type f -exec stat -c '%Y here %n' {} + 2>/dev/null; done |
    berth_unfinished $((now - 60)) | grep -q . || {
    lacking=
    return 1
  }
  [ -n "$lacking" ] || lacking=$now
  [ $((now - lacking)) -lt 60 ]
}

# Those of the last fifteen seconds that a program has open for writing: it may pause in them. They are waited for a minute.
held() {
  touch -d "@$((now - 16))" "$here/store.held"
  changed "$here/store.held" > "$here/store.young"
  [ -s "$here/store.young" ] || return 0
  ls -l /proc/[0-9]*/fd 2> /dev/null | sed -n 's/^l.w.* -> //p' > "$here/store.open"
  while IFS= read -r line; do
    ! grep -qxF -e "$(readlink -f "${line#* }")" "$here/store.open" || printf '%s\n' "$line"
  done < "$here/store.young"
}

# What changed since the last snapshot but logs, and which file came last of it: of what is saved together that comes last again.
note_order() {
  [ -f "$here/store.last" ] || touch -d @0 "$here/store.last"
  changed "$here/store.last" | cut -d ' ' -f 2- > "$here/store.young"
  tr '\n' '\0' < "$here/store.young" | xargs -0 stat -c '%y %n' 2> /dev/null | sort | cut -d ' ' -f 4- |
    awk -v logs="$berth_log_names" '{ name = tolower($0); sub(".*/", "", name) } name !~ logs' > "$here/store.order"
  touch -d "@$at" "$here/store.next"
}

keep_order() {
  [ ! -s "$here/store.order" ] || mv -f "$here/store.order" "$here/store.ordered"
  mv -f "$here/store.next" "$here/store.last"
}

# Whether one of those files is newer than the one that came last of them: for fifteen seconds.
partly=
changed_partly() {
  [ -s "$here/store.ordered" ] || return 1
  end=$(tail -n 1 "$here/store.ordered")
  [ -f "$end" ] && while IFS= read -r file; do
    [ ! "$file" -nt "$end" ] || echo newer
  done < "$here/store.ordered" | grep -q . || {
    partly=
    return 1
  }
  [ -n "$partly" ] || partly=$now
  [ $((now - partly)) -lt 15 ]
}

# Waits until nothing is being written. Files that grow slowly for nine seconds are logs, which may.
wait_until_whole() {
  : > "$here/store.logs"
  begun=$(date +%s) first=
  while :; do
    now=$(date +%s)
    touch -d "@$((now - 4))" "$here/store.mark" || return
    young=$(changed "$here/store.mark")
    [ -n "$young" ] || [ $((now - begun)) -ge 60 ] || young=$(held)
    parts=
    if lacks_parts || changed_partly; then parts=lacking; fi
    [ -n "$young$parts" ] || return 0
    if [ -z "$first" ]; then first=$young; fi
    if [ $((now - begun)) -ge 9 ]; then
      { printf '%s\n' "$first" && echo && printf '%s\n' "$young"; } | awk -v most=$((16384 + 4096 * (now - begun))) '
        !later && /^$/ { later = 1; next }
        { size = $1; name = substr($0, length($1) + 2) }
        !later { before[name] = size; next }
        name in before && size > before[name] && size - before[name] <= most { print name }' > "$here/store.grown"
      young=$(printf '%s\n' "$young" | cut -d ' ' -f 2- | grep -v -F -x -f "$here/store.grown")
      [ -n "$young$parts" ] || return 0
    fi
    [ $((now - begun)) -lt "$every" ] || return 1
    sleep 2
  done
}

# Whether a file that is no log has changed since all were left alone.
is_torn() {
  changed "$here/store.mark" | cut -d ' ' -f 2- | { if [ -f "$here/store.grown" ]; then grep -v -F -x -f "$here/store.grown"; else cat; fi; } | grep -q .
}

# The newest snapshot is the one to go on from, by its time. Clocks of machines differ: each snapshot is later than the one that
# the run began with, and than those before it here. In epoch seconds.
newest=$home/.berth/newest.$run
next_time() {
  time=$(date +%s) newer_than=0
  [ ! -f "$newest" ] || read -r newer_than < "$newest"
  [ "$time" -gt "${newer_than:-0}" ] || time=$((newer_than + 1))
  echo "$time" > "$newest"
  date -d "@$time" '+%Y-%m-%d %H:%M:%S'
}

add_snapshot() {
  [ -z "$copied" ] || cd "$here/store.copy" || return
  store backup --json --time "$(next_time)" --host berth --tag "$run" ${copied:+--tag "$run-whole"} --files-from-verbatim "$here/store.these" > "$here/store.out"
  set -- $?
  cd "$home/$folder" && return "$1"
}

# Tries again soon, and ever later: what is not stored is lost with the machine.
fail() {
  failures=$((failures + 1))
  pause=$((failures > 5 ? every : 10 * failures))
  [ "$pause" -le "$every" ] || pause=$every
  note failed "$(why)"
}

# The paths with a file, in `$here/store.these`: an empty folder is no result. `linked`: one is a link, or has one that leads
# out of it, which restic would store as such, so that a copy is needed.
list_paths() {
  linked=
  : > "$here/store.these"
  while IFS= read -r path; do
    if [ -L "$path" ] || [ -n "$(berth_outward "$path")" ]; then linked=1; fi
    if [ -n "$(find -H "$path" ! -type d 2>/dev/null | head -n 1)" ]; then printf '%s\n' "$path" >> "$here/store.these"; fi
  done < "$here/store.paths"
}

# Copies the results, so that the command may change them while they are stored: a gigabyte at most at first, and more once a
# snapshot was torn; where half of the room on the disk is enough. Fails where that is torn.
take_copy() {
  size=$(all_of "$here/store.these" | tr '\n' '\0' | xargs -0 du -skH | awk '{ sum += $1 } END { print sum }')
  room=$(df -kP "$here" | awk 'END { print $4 }')
  [ "${size:-0}" -le $((${room:-0} / 2)) ] && [ -n "$linked" -o "$torn" -gt 0 -o "${size:-0}" -le 1048576 ] || return 0
  rm -rf "$here/store.copy"
  mkdir "$here/store.copy" || return
  while IFS= read -r path; do
    case $path in */*) mkdir -p "$here/store.copy/${path%/*}" ;; esac
    nice -n 10 cp -aH "$path" "$here/store.copy/$path" || return
    berth_outward "$path" | while IFS= read -r link; do
      rm -f "$here/store.copy/$link" && nice -n 10 cp -aH "$link" "$here/store.copy/$link" || exit 1
    done || return
  done < "$here/store.these"
  ! is_torn && copied=1
}

snapshot() {
  copied=
  need_restic || {
    note failed 'restic is not on the machine, and its package can’t be installed.'
    return
  }
  rm -f "$here/store.grown"
  wait_until_whole || {
    note waits
    return
  }
  list_paths
  # The command may just have begun.
  if [ ! -s "$here/store.these" ]; then
    pause=5
    return
  fi
  at=$(date +%s)
  note_order
  if ! take_copy; then
    pause=5
    note waits
    return
  fi
  if [ -z "$known" ] && ! store cat --no-lock config > /dev/null; then
    reason=$(why)
    store init > /dev/null || {
      # It could not be read, as with a wrong password.
      ! grep -q 'already exists' "$here/store.log" || printf 'Fatal: %s\n' "$reason" > "$here/store.log"
      fail
      return
    }
  fi
  known=1
  add_snapshot || {
    # A machine that died while it removed old snapshots has left its lock, which counts for half an hour.
    grep -q 'already locked' "$here/store.log" && store unlock > /dev/null && add_snapshot
  } || {
    fail
    return
  }
  id=$(sed -n 's/.*"snapshot_id":"\([0-9a-f]*\)".*/\1/p' "$here/store.out" | tail -n 1)
  if [ -z "$id" ] || { [ -z "$copied" ] && is_torn; }; then
    # The next one is of a copy.
    torn=$((torn + 1))
    [ "$torn" -gt 1 ] || pause=5
    note waits
    return
  fi
  if [ -z "$copied" ]; then
    echo "$id" > "$here/store.id"
    input=$here/store.id
    store backup --time "$(next_time)" --host berth --tag "$run-complete" --stdin --stdin-filename complete > /dev/null || {
      input=
      fail
      return
    }
    input=
  fi
  keep_order
  last=$at failures=0
  note ok
  count=$((count + 1))
  if [ $((count % 12)) -eq 0 ] && [ -z "$keeps_all" ]; then forget; fi
}

# Removes all but the last snapshots, until the next one is due. A store that takes nothing back isn't asked again: restic
# insists for a quarter of an hour, and nothing would be stored meanwhile.
forget() {
  most=$((every > 60 ? every : 60))
  # Each start of the command stores another folder.
  store forget --host berth --tag "$run" --group-by '' --keep-last 3 > /dev/null &&
    store forget --host berth --tag "$run-complete" --group-by '' --keep-last 3 --prune > /dev/null
  ! grep -q -i 'denied\|forbidden' "$here/store.log" || keeps_all=1
  most=3600
}

# There until it was done.
due=$home/.berth/restore.$run
restore() {
  [ -s "$here/store.restores" ] || [ -f "$due" ] || return 0
  true > "$due"
  none='Berth: the store has no snapshot of this run.'
  need_restic || {
    echo 'Berth: restic is not on the machine, and its package can’t be installed.'
    return 1
  }
  # Three minutes, however long each answer takes: the last time half a minute before their end.
  asked=$(date +%s) told=
  for pause in 5 15 30 60 60 0; do
    left=$((150 - $(date +%s) + asked))
    most=$((left > 30 ? left : 30))
    store snapshots --no-lock --json --tag "$run-complete" --tag "$run-whole" > "$here/store.out"
    code=$?
    if [ "$code" -eq 0 ]; then
      id=$(grep -o '"short_id":"[0-9a-f]*"' "$here/store.out" | tail -n 1 | cut -d '"' -f 4)
      [ -n "$id" ] || {
        rm -f "$due"
        echo "$none"
        return
      }
      case $(grep -o '"tags":\[[^]]*\]' "$here/store.out" | tail -n 1) in
        *"$run-whole"*) ;;
        *) id=$(store dump --no-lock "$id" /complete) ;;
      esac
      most=43200
      if [ -n "$id" ] &&
        store restore --no-lock "$id" --target . > /dev/null; then
        time=$(grep -o '"time":"[^"]*"' "$here/store.out" | tail -n 1 | cut -d '"' -f 4)
        at=$(date -d "$(printf '%s' "$time" | tr T ' ' | sed 's/[.Z].*//')" +%s 2>/dev/null)
        age=
        if [ -n "$at" ]; then
          echo "$at" > "$newest"
          age=$((($(date +%s) - at) / 60))
        fi
        [ "${age:--1}" -lt 0 ] || time="$time, $age min ago"
        rm -f "$due"
        echo "Berth: continues from the snapshot of $time."
        return
      fi
      # It answers: what breaks off is tried again.
      asked=$(date +%s)
    elif is_empty "$code"; then
      rm -f "$due"
      echo "$none"
      return
    fi
    left=$((150 - $(date +%s) + asked))
    [ "$left" -gt 0 ] || break
    [ -n "$told" ] || echo "Berth: waits for the store, for three minutes at most: $(why)"
    told=1
    sleep $((pause < left ? pause : left))
  done
  echo "Berth: the last snapshot can't be had: $(why)"
  return 1
}

count=0 known= torn=0 failures=0 keeps_all=
case $2 in
  restore)
    restore
    exit
    ;;
esac
until [ -f "$here/over" ]; do
  round=$(date +%s) pause=$every asked=
  [ ! -f "$here/store.now" ] || asked=1
  snapshot
  rm -rf "$here/store.copy"
  # What a machine's end costs is the time since a snapshot began that was complete: the next one begins as much earlier as one takes.
  took=$(($(date +%s) - round))
  [ "$pause" -ne "$every" ] || pause=$((every - (took < every / 4 ? took : every / 4)))
  [ -z "$asked" ] || rm -f "$here/store.now"
  while :; do
    sleep 1 &
    nap=$!
    wait $nap
    nap=
    if [ -f "$here/over" ] || [ -f "$here/store.now" ] || [ $(($(date +%s) - round)) -ge "$pause" ]; then break; fi
  done
done
