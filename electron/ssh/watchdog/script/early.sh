#!/bin/sh
# Berth's watchdog for a rental's time, until Berth connects and puts the whole one in its place.

# It stops or destroys its instance once as long has passed since the first start as was left of the limit. It counts by the
# host's uptime, and by the clock only over a restart of the host, so a clock that is wrong, or set right, doesn't matter.
here=${0%/*}
if [ "$1" = start ]; then
  (trap '' HUP && exec sh "$0" run < /dev/null > /dev/null 2>&1) &
  exit
fi
[ -f "$here/done" ] && exit
up() { sed 's/[. ].*//' /proc/uptime; }
boot=/proc/sys/kernel/random/boot_id
[ -f "$here/began" ] || echo "$(up) $(date +%s) $(cat $boot)" > "$here/began"
read -r began date host < "$here/began"
[ "$host" = "$(cat $boot)" ] || began=$(($(up) - $(date +%s) + date))
of_config() { sed -n "s/^$1=//p" "$here/config"; }
of_container() { tr '\0' '\n' < /proc/1/environ | sed -n "s/^$1=//p"; }
due=$((began + $(of_config at) - $(of_config told)))
action=$(of_config action)
# Where it came while the container was stopped, Berth has five minutes; and somebody may want it to run long after it.
[ "$(up)" -gt "$due" ] && due=$(($(up) + 300)) && action=stop
echo $$ > "$here/pid"
while [ "$(up)" -lt "$due" ]; do sleep 10; done
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
print(urlopen(R(u, b.encode() or None, {"Authorization": "Bearer " + input(), "Content-Type": "application/json"}, method=m), timeout=30).read())' $method "$url" "$body"
}
while :; do
  # Marked before: what is asked for ends this script.
  : > "$here/done"
  case $(with_curl || with_wget || with_python3) in *'"success":'*true*) ;; *) rm -f "$here/done" ;; esac
  sleep 60
done
