# Tells the watchdog about the run. Needs: word, afterwards. then: what becomes of the instance. busy: Berth is at it, so
# it waits its time anew. over: nothing is left to do. remove: and nothing is left of the run.

case $word in
  then) printf '%s\n' "$afterwards" > "$here/then.new" && mv -f "$here/then.new" "$here/then" ;;
  busy) rm -f "$here/due" ;;
  over) rm -f "$here/then" "$here/due" ;;
  remove)
    rm -rf "$here"
    rmdir "${here%/*}" 2>/dev/null && rmdir "${here%/*/*}" 2>/dev/null
    ;;
esac
echo 'settled yes'
