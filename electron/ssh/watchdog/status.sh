# Renews the lease where there is a text for it, keeps the address to tell, sees to it that the watchdog runs, and tells how
# it is. Needs: lease, tell (the file, empty for none, `keep` to leave it), asks (whether it asks the service now, with
# config.sh and service.sh of the watchdog's script before this).

# Asks for the instance as the watchdog would, and says what would keep that from acting: no answer by any of the tools, or a
# key that isn't known. It may not read an instance, so any other refusal is an answer like any.
whether_it_could_act() {
  read_config
  find_tools
  read_instance
  read_key
  within=8
  for _ in $tools; do
    ask GET "/api/v0/instances/${instance:+$instance/}" || continue
    [ -z "$unknown_key" ] || echo 'cannot key_refused'
    return
  done
  echo 'cannot no_answer'
}

if [ ! -f "$here/watchdog.sh" ] || [ ! -f "$here/config" ]; then
  echo 'there no'
  exit 0
fi
echo 'there yes'
if [ -n "$lease" ]; then
  printf '%s\n' "$lease" > "$here/lease.new" && mv -f "$here/lease.new" "$here/lease"
fi
case $tell in
  keep) ;;
  '') rm -f "$here/tell" ;;
  *) printf '%s\n' "$tell" > "$here/tell.new" && mv -f "$here/tell.new" "$here/tell" ;;
esac
if ! is_alive; then
  sh "$here/watchdog.sh" start
  waited=0
  while ! { is_alive && [ -f "$here/state" ]; } && [ "$waited" -lt 50 ]; do
    sleep 0.1 2>/dev/null || sleep 1
    waited=$((waited + 1))
  done
fi
is_alive && echo 'alive yes'
[ -f "$onstart" ] && grep -q "# >>> $mark" "$onstart" && echo 'hooked yes'
sed 's/^/config./; s/=/ /' "$here/config"
[ -f "$here/state" ] && sed 's/^/state./; s/=/ /' "$here/state"
[ -f "$here/done" ] && sed 's/^/done /' "$here/done"
[ -n "$asks" ] && whether_it_could_act
exit 0
