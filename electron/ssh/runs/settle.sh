# Ends the run's command before its machine is left: once nothing has been written for three seconds to its results, in the
# absolute `folder`, on a line each in `paths`, or after a minute. Prints `settled whole` if no file can be half: what a signal
# ended before may have died while it wrote.

changed() {
  printf '%s\n' "$paths" | while IFS= read -r path; do
    if [ -e "$path" ]; then find "$path" -type f -newer "$here/settle"; fi
  done | head -n 1
}

mark() { touch -d "@$(($(date +%s) - 4))" "$here/settle"; }

end() {
  kill "-$1" "-$pid" 2>/dev/null || kill "-$1" "$pid" 2>/dev/null
}

fate=torn gone=
cd "$folder" || exit 1
is_going || gone=1
begun=$(date +%s)
while mark && [ -n "$(changed)" ] && [ $(($(date +%s) - begun)) -lt 60 ]; do sleep 1; done
[ -n "$(changed)" ] || fate=whole
if is_going; then
  end TERM
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    is_going || break
    sleep 1
  done
  if is_going; then
    end KILL
    fate=torn
  fi
fi
# What dies by a signal may die while it writes.
code=0
read -r code 2>/dev/null < "$here/code"
if [ "${code:-0}" -ge 128 ] && [ -n "$gone$(changed)" ]; then fate=torn; fi
died=
[ -z "$gone" ] || died=$(stat -c %Y "$here/code" 2>/dev/null)
# Gone without a code, as by a restart of the container: it last ran when it said so.
if [ -n "$gone" ] && [ -z "$died" ] && [ -s "$here/alive" ]; then fate=torn; else echo "${died:-$(date +%s)}" > "$here/alive"; fi
rm -f "$here/settle"
echo "settled $fate"
