# How long ago somebody used this machine, in seconds in `used`, and by what in `used_by`: what was typed at a terminal, a
# Jupyter kernel that works, or a page that is open in a browser. Both are empty where nobody did, or nothing here can tell.
# Programs of this home folder alone count, so that each of several servers on one computer tells its own. In `home`: that
# folder. In `seen`: a file of the last time, so that a tunnel of a computer that sleeps counts but once; or empty.

note_use() {
  case $1 in '' | *[!0-9]*) return 0 ;; esac
  if [ -z "$used" ] || [ "$1" -lt "$used" ]; then used=$1 used_by=$2; fi
}

# Which process has what open, as `ls` lists it: of all programs of this home folder, or of the SSH server.
open_files() {
  for process; do
    process=${process%/*}
    echo "of ${process##*/}"
    ls -l "$process/fd" 2>/dev/null
  done
}
open_here() {
  # shellcheck disable=SC2046
  open_files $(grep -Fls "HOME=$home" /proc/[0-9]*/environ 2>/dev/null)
}
open_by_sshd() {
  # shellcheck disable=SC2046
  open_files $(grep -ls '^sshd' /proc/[0-9]*/comm 2>/dev/null)
}

use_terminals() {
  for terminal in $(open_here | sed -n 's|.* -> \(/dev/pts/[0-9][0-9]*\)$|\1|p' | sort -u); do
    typed=$(stat -c %X "$terminal" 2>/dev/null)
    [ -z "$typed" ] || note_use $(($(date +%s) - typed)) terminal
  done
}

# Jupyter's list of its kernels. The token is on no command line.
kernels_of() {
  if command -v curl > /dev/null 2>&1; then
    printf 'header = "Authorization: token %s"\n' "$2" | curl -q -ksS -m 5 -K - "$1"
  elif command -v python3 > /dev/null 2>&1; then
    printf '%s\n' "$2" | timeout 8 python3 -c '
import ssl, sys, urllib.request
headers = {"Authorization": "token " + sys.stdin.readline().strip()}
request = urllib.request.Request(sys.argv[1], headers=headers)
print(urllib.request.urlopen(request, timeout=5, context=ssl._create_unverified_context()).read().decode())' "$1"
  fi 2>/dev/null < /dev/null
}

use_kernels() {
  for file in "${JUPYTER_RUNTIME_DIR:-$home/.local/share/jupyter/runtime}"/*server-*.json; do
    [ -r "$file" ] || continue
    said() { sed -n "s/.*\"$1\": *\"\{0,1\}\([^\",}]*\).*/\1/p" "$file"; }
    port=$(said port) scheme=http
    [ "$(said secure)" != true ] || scheme=https
    kill -0 "$(said pid)" 2>/dev/null || continue
    kernels=$(kernels_of "$scheme://127.0.0.1:$port$(said base_url)api/kernels?no_track_activity=1" "$(said token)")
    case $kernels in *'"busy"'*) note_use 0 kernel ;; esac
    for time in $(printf '%s' "$kernels" | tr ',' '\n' | sed -n 's/.*"last_activity": *"\([^".Z]*\).*/\1/p'); do
      time=$(date -u -d "$(printf '%s' "$time" | tr T ' ')" +%s 2>/dev/null)
      [ -z "$time" ] || note_use $(($(date +%s) - time)) kernel
    done
  done
}

# Connections to what listens here: of other computers, `page`, and by SSH, `tunnel` with the number of its process there.
connections_here() {
  {
    echo 'begin here'
    open_here
    echo 'begin ssh'
    open_by_sshd
    echo 'begin net'
    cat /proc/net/tcp /proc/net/tcp6 2>/dev/null
  } | awk '
    function is_local(address) { return address ~ /(^|FFFF0000)[0-9A-F]*7F$/ && length(address) == 8 || address ~ /FFFF0000......7F$/ || address ~ /^0+1000000$/ }
    $1 == "begin" { part = $2; next }
    part != "net" && $1 == "of" { process = $2; next }
    part != "net" && match($0, /socket:\[[0-9]+\]/) {
      inode = substr($0, RSTART + 8, RLENGTH - 9)
      if (part == "ssh") ssh[inode] = process; else here[inode] = 1
      next
    }
    $4 == "0A" && $10 in here && !($10 in ssh) { split($2, at, ":"); listens[at[2]] = 1 }
    $4 == "01" { one[++count] = $2; other[count] = $3; of[count] = $10 }
    END {
      for (each = 1; each <= count; each++) {
        split(one[each], from, ":")
        split(other[each], to, ":")
        if (of[each] in ssh) { if (is_local(to[1]) && to[2] in listens) print "tunnel", ssh[of[each]] }
        else if (from[2] in listens && from[1] != to[1] && !is_local(to[1])) print "page"
      }
    }' 2>/dev/null
}

use_pages() {
  connections=$(connections_here | sort -u)
  case $connections in *page*) note_use 0 page ;; esac
  lines=
  for process in $(printf '%s\n' "$connections" | sed -n 's/^tunnel //p'); do
    # What its SSH connection has brought so far: a computer that is awake lets it grow.
    line="$process $(sed -n 's/^rchar: //p' "/proc/$process/io" 2>/dev/null)"
    [ -n "$seen" ] && grep -qsxF "$line" "$seen" || note_use 0 page
    lines="$lines$line
"
  done
  [ -z "$seen" ] || printf '%s' "$lines" > "$seen"
}

read_use() {
  used='' used_by=''
  use_terminals
  use_kernels
  use_pages
}
