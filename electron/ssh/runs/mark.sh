# Tells the watchdog about the run. Needs: word, order. then: what becomes of the instance. busy: Berth is at it, so
# it waits its time anew. served: what becomes of the instance is under way, so a start of it ends that. over: nothing is
# left to do. remove: and nothing is left of the run.

case $word in
  then) printf '%s\n' "$order" > "$here/then.new" && mv -f "$here/then.new" "$here/then" ;;
  busy) rm -f "$here/due" ;;
  served) : > "$here/served" ;;
  over) rm -f "$here/then" "$here/due" "$here/served" ;;
  remove)
    rm -rf "$here"
    rmdir "${here%/*}" 2>/dev/null && rmdir "${here%/*/*}" 2>/dev/null
    ;;
esac
echo 'marked yes'
