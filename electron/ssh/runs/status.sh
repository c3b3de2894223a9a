# How the run is, on one line, and then its output from a byte on. Needs: from, most.

state=none code=- size=0
if [ -d "$here" ]; then
  # In this order: what has a code has printed all that it will, and what ends meanwhile is not taken for lost.
  if [ -f "$here/code" ]; then
    state=ended
  elif [ ! -f "$here/pid" ]; then
    state=starting
  elif is_going; then
    state=running
  elif [ -f "$here/code" ]; then
    state=ended
  else
    state=lost
  fi
  [ "$state" = ended ] && read -r code < "$here/code"
  case $code in '' | *[!0-9]* | ????*) code=- ;; esac
  [ -f "$here/output" ] && size=$(wc -c < "$here/output" | tr -d ' ')
fi
echo "$state $code $size"
if [ "$size" -gt "$from" ]; then
  tail -c "+$((from + 1))" "$here/output" | head -c "$most"
fi
