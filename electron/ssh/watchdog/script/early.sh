#!/bin/sh
# Berth's watchdog until Berth connects for the first time and puts the whole one in its place: it stops or destroys its
# instance once as long has passed since the first start as was left of the limit, also where clocks are wrong.
here=${0%/*}
if [ "$1" = start ]; then
  nohup sh "$0" run < /dev/null > /dev/null 2>&1 &
  exit
fi
[ -f "$here/done" ] && exit
[ -f "$here/began" ] || date +%s > "$here/began"
read -r began < "$here/began"
of_config() { sed -n "s/^$1=//p" "$here/config"; }
of_container() { tr '\0' '\n' < /proc/1/environ | sed -n "s/^$1=//p"; }
due=$((began + $(of_config at) - $(of_config told)))
action=$(of_config action)
# Where it came while the container was stopped, Berth has five minutes; and somebody may want it to run long after it.
[ "$(date +%s)" -gt "$due" ] && due=$(($(date +%s) + 300)) && action=stop
echo $$ > "$here/pid"
while [ "$(date +%s)" -lt "$due" ]; do sleep 10; done
id=${CONTAINER_ID:-$(of_container CONTAINER_ID)}
key=${CONTAINER_API_KEY:-$(of_container CONTAINER_API_KEY)}
url=$(of_config url)/api/v0/instances/${id#C.}/
json='Content-Type: application/json'
method=PUT body='{"state":"stopped"}'
[ "$action" = destroy ] && method=DELETE body=
with_curl() {
  printf 'header = "Authorization: Bearer %s"\n' "$key" |
    curl -qfsS -m 30 -K - -X $method -H "$json" ${body:+-d "$body"} "$url"
}
with_wget() {
  printf 'header = Authorization: Bearer %s\n' "$key" > "$here/wgetrc"
  wget --config="$here/wgetrc" -qO- --timeout=30 --method=$method --header="$json" ${body:+--body-data="$body"} "$url"
}
with_python3() {
  echo "$key" | python3 -c 'import sys; from urllib.request import Request as R, urlopen
m, u, b = sys.argv[1:]
urlopen(R(u, b.encode() or None, {"Authorization": "Bearer " + input(), "Content-Type": "application/json"}, method=m), timeout=30)' $method "$url" "$body"
}
# Marked before: what is asked for ends this script.
: > "$here/done"
while :; do
  with_curl || with_wget || with_python3
  sleep 60
done
