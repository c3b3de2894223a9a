# A run of Berth's: one command, and in this file's folder all that is known of it: command, output, pid, code once it
# has ended, alive: the time at which it last ran, and its code, what `store.sh` has, and perhaps then: what becomes of the
# instance, for the watchdog. It outlives every connection.

# The login's own, for the command.
berth_umask=${1:-022}
umask 077
here=${0%/*}
# However often it is called, the command runs once.
mkdir "$here/claim" 2>/dev/null || exit 0
# A signal is for the command; this goes on, to write down how it ended.
trap : HUP INT TERM
# In one step: one that is there and empty is for a disk without room, and tells that this is lost.
echo $$ > "$here/pid.new" && mv -f "$here/pid.new" "$here/pid" || : > "$here/pid"
berth_rented=$BERTH_RENTED_WITH
unset BERTH_RENTED_WITH
take_environment "$berth_rented"

cd "${HOME:-/root}" || exit 1
# The first line that fails ends the command, also in a pipe; dash sees no failure there, which the output says.
shell='sh'
command -v bash > /dev/null 2>&1 && shell='bash'
set -- -e
if "$shell" -c 'set -o pipefail' > /dev/null 2>&1; then
  set -- -e -o pipefail
elif grep -hq '[^|]|[^|]' "$here/command" "$here/tried" 2>/dev/null; then
  echo 'Berth: this image’s sh has no pipefail and there is no bash, so a failure before a | goes unnoticed.' >> "$here/output"
fi
# What goes on around a command needs its shell, and calls it from the environment that the first lines prepare.
[ ! -f "$here/tried" ] || around=1
# What the machine before had may still be put in its place, where Berth has given up on that.
for taking in .berth/left/*/taking; do
  who= waited=0
  read -r who 2>/dev/null < "$taking"
  while [ -n "$who" ] && [ -f "$taking" ] && kill -0 "$who" 2>/dev/null && [ "$waited" -lt 1800 ]; do
    sleep 1
    waited=$((waited + 1))
  done
done
storing=
if [ -f "$here/store.sh" ]; then
  if ! sh "$here/store.sh" "$here" restore < /dev/null >> "$here/output" 2>&1; then
    rm -f "$here/store.pass" "$here/store.key" "$here/store.env"
    echo 75 > "$here/code.new" && mv -f "$here/code.new" "$here/code"
    exit
  fi
  sh "$here/store.sh" "$here" loop < /dev/null > /dev/null 2>&1 &
  storing=$!
fi
# A machine may end at any moment: what was written shortly before that may be half of a file.
live() {
  date +%s > "$here/alive.new" && mv -f "$here/alive.new" "$here/alive"
}
# Before the command begins, for its status.
live
(
  # From here on its own: between a program's start and a line that keeps its number, a signal would miss it.
  true &
  wait $!
  trap 'kill -KILL $! 2>/dev/null; exit' TERM
  while kill -0 $$ 2>/dev/null && [ ! -f "$here/over" ]; do
    live
    sleep 5 &
    wait $!
  done
) < /dev/null > /dev/null 2>&1 &
alive=$!
export BERTH_PROGRAM="${here##*/}."
umask "$berth_umask"
"$shell" "$@" "$here/command" ${around:+"$here" "$shell" "$@"} < /dev/null >> "$here/output" 2>&1
code=$?
umask 077
# Until they have begun they have this one's trap, in which a signal is lost.
true > "$here/over"
kill $alive $storing 2>/dev/null
wait $alive 2>/dev/null
# For the next machine, where this one goes before it was asked.
ended=$(date +%s)
[ ! -s "$here/rough" ] || read -r ended < "$here/rough"
echo "$ended $code" > "$here/alive.new" && mv -f "$here/alive.new" "$here/alive"
[ -z "$storing" ] || wait "$storing" 2>/dev/null
rm -f "$here/store.pass" "$here/store.key" "$here/store.env"
echo "$code" > "$here/code.new" && mv -f "$here/code.new" "$here/code"
