# How the run is, on one line, and then its output from a byte on. Needs: from, most. Of a command that is tried again the
# line goes on with how many attempts have failed, the last one's exit code, and the seconds until the next one. Of one whose
# results are stored it ends with `stored`, how that is, how many seconds ago the last complete snapshot began, and why not.

state=none code=- size=0
if [ -d "$here" ]; then
  # In this order: what has a code has printed all that it will, and what ends meanwhile is not taken for lost.
  if [ -f "$here/code" ]; then
    state=ended
  elif [ ! -f "$here/pid" ]; then
    state=starting
  elif is_going; then
    state=running
    # What it is to go on from may still be put in its place. On a full disk there is one without content.
    [ -f "$here/alive" ] || [ -f "$here/alive.new" ] || state=starting
  elif [ -f "$here/code" ]; then
    state=ended
  else
    state=lost
  fi
  [ "$state" = ended ] && read -r code < "$here/code"
  case $code in '' | *[!0-9]* | ????*) code=- ;; esac
  [ -f "$here/output" ] && size=$(($(wc -c < "$here/output") + 0))
fi
attempts=
if read -r failed failed_code next 2>/dev/null < "$here/attempts"; then
  case $failed$failed_code$next in
    '' | *[!0-9]* | ????????????????*) ;;
    *)
      up=
      read -r up _ 2>/dev/null < /proc/uptime
      up=${up%%.*}
      case $up in '' | *[!0-9]*) up=$(date +%s) ;; esac
      attempts=" $failed $failed_code $((next > up ? next - up : 0))"
      ;;
  esac
fi
stored=
if read -r word at why 2>/dev/null < "$here/stored"; then
  case $word$at in
    *[!a-z0-9]* | ???????????????????????*) ;;
    *) stored=" stored $word $((at > 0 ? $(date +%s) - at : -1)) $why" ;;
  esac
fi
echo "$state $code $size$attempts$stored"
if [ "$size" -gt "$from" ]; then
  tail -c "+$((from + 1))" "$here/output" | head -c "$most"
fi
