# The watchdog: telling an address of the user's. `tell` has it and, in a second line, a message as JSON with @TEXT@ for
# what is known here. It is told once, and goes then.

post_with_curl() {
  answered=$(printf 'url = "%s"\n' "$to" |
    curl -q -g -sS -m 8 -K - -o /dev/null -w '%{http_code}' -H 'Content-Type: application/json' \
      --data-binary "@$here/telling" 2>/dev/null)
  [ "${answered%??}" = 2 ]
}

post_with_wget() {
  printf '%s\n' "$to" | HOME=$here wget -q -O /dev/null -i - --tries=1 --timeout=8 --max-redirect=0 \
    --header='Content-Type: application/json' --post-file="$here/telling" > /dev/null 2>&1
}

post_with_python3() {
  printf '%s\n' "$to" | python3 -c '
import sys
from urllib.request import HTTPRedirectHandler, Request, build_opener
class Stay(HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None
headers = {"Content-Type": "application/json"}
request = Request(sys.stdin.readline().strip(), data=open(sys.argv[1], "rb").read(), headers=headers)
build_opener(Stay).open(request, timeout=8)
' "$here/telling" > /dev/null 2>&1
}

# Waits for ten seconds at most: the machine costs money meanwhile.
tell_away() {
  [ -r "$here/tell" ] && [ "$told_of" != "$why $run_name" ] || return
  to='' form=''
  { read -r to && read -r form; } 2>/dev/null < "$here/tell"
  case $to in https://* | http://127.0.0.1:*) ;; *) return ;; esac
  case $why in
    time) what='its time is over' ;;
    idle) what="its GPUs were idle for $((uptime - idle_since)) s" ;;
    lease) what="Berth has not been heard of for $((uptime - leased_at)) s" ;;
    run)
      read -r code < "$runs/$run_name/code"
      what='its run has ended'
      [ "$code" = 0 ] || what="its run has failed (exit code ${code%%[!0-9]*})"
      ;;
  esac
  if [ "$wanted" = destroy ]; then what="Being destroyed: $what."; else what="Being stopped: $what."; fi
  printf '%s' "${form%%@TEXT@*}$what${form#*@TEXT@}" > "$here/telling"
  {
    for tool in $tools; do
      "post_with_$tool" || continue
      rm -f "$here/tell"
      break
    done
    rm -f "$here/telling"
  } &
  telling=$!
  waited=0
  while kill -0 "$telling" 2>/dev/null && [ "$waited" -lt 100 ]; do
    sleep 0.1 2>/dev/null || sleep 1
    waited=$((waited + 1))
  done
  if [ -f "$here/tell" ]; then return; fi
  told_of="$why $run_name"
  log "told the user's address"
}
