# Starts the run, unless it was started before. Needs: script, command, order, and BERTH_RENTED_WITH for `run.sh`; for a
# command that something goes on around also around and tried, and what of that: retry, before_stop and hook. For one
# whose results are stored: store, store_password, store_script, and what of store_key, store_host, store_variables and store_restores.

put_around() {
  [ -n "$tried" ] || return 0
  [ -z "$retry" ] || printf '%s\n' "$retry" > "$here/retry" || return
  [ -z "$hook" ] || printf '%s\n' "$hook" > "$here/hook" || return
  [ -z "$before_stop" ] || printf '%s\n' "$before_stop" > "$here/before_stop" || return
  printf '%s' "$around" > "$here/around.sh" && printf '%s\n' "$tried" > "$here/tried"
}

put_store() {
  [ -n "$store" ] || return 0
  printf '%s\n' "$store" > "$here/store" && printf '%s\n' "$store_password" > "$here/store.pass" || return
  [ -z "$store_key" ] || printf '%s\n' "$store_key" > "$here/store.key" || return
  [ -z "$store_host" ] || printf '%s\n' "$store_host" > "$here/store.host" || return
  [ -z "$store_variables" ] || printf '%s\n' "$store_variables" > "$here/store.env" || return
  printf '%s' "$store_restores" > "$here/store.restores" && printf '%s' "$store_script" > "$here/store.sh"
}

mkdir -p "$here"
if [ ! -d "$here/claim" ]; then
  [ -z "$order" ] || printf '%s\n' "$order" > "$here/then"
  : >> "$here/output"
  if ! printf '%s' "$script" > "$here/run.sh" || ! printf '%s\n' "$command" > "$here/command" || ! put_around || ! put_store; then
    echo 'refused no_room'
    exit 0
  fi
  export BERTH_RENTED_WITH
  if command -v setsid > /dev/null 2>&1; then
    setsid sh "$here/run.sh" "$login_umask" < /dev/null > /dev/null 2>&1 &
  else
    nohup sh "$here/run.sh" "$login_umask" < /dev/null > /dev/null 2>&1 &
  fi
fi
echo 'started yes'
