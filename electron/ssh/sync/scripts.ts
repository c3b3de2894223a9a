/**
 * What runs on instances: POSIX shell and the usual small programs, of GNU or BusyBox. The folder is in `remote`. All of
 * it goes by the input, so that nothing of it is on a command line.
 */

/**
 * Lists the arguments, NUL between all. Where a folder is sent to, it first waits a few seconds for one that was cut off
 * and is still at it: what that has taken already comes to its place beside what is sent next. BusyBox has no -printf
 * and ends lines instead: names with line ends stay away.
 */
export const listScript = `
LC_ALL=C; export LC_ALL
cd -- "$remote" 2>/dev/null || {
  [ -z "$make" ] || mkdir -p -- "$remote" 2>/dev/null
  cd -- "$remote" 2>/dev/null || { echo 'berth-sync refused'; exit; }
}
if [ -n "$make" ] && pid=$(cat .berth-sync.pid 2>/dev/null); then
  left=5
  while [ $left -gt 0 ] && kill -0 "$pid" 2>/dev/null; do sleep 1; left=$((left - 1)); done
fi
case $(tar --version 2>/dev/null) in
*'GNU tar'*) tar=gnu ;;
*bsdtar*) tar=bsd ;;
*) tar=none; if command -v tar >/dev/null 2>&1; then tar=other; fi ;;
esac
echo "berth-sync ok $tar $(date +%s)"
df -Pk . 2>/dev/null
printf '\\0'
for start; do
  shift
  if [ -e "$start" ] || [ -L "$start" ]; then set -- "$@" "$start"; fi
done
[ $# -gt 0 ] || exit 0
if find . -maxdepth 0 -printf '' 2>/dev/null; then
  find "$@" -printf '%y %s %T@ %m %p\\0%l\\0' 2>/dev/null
else
  line='
'
  find "$@" ! -name "*$line*" -exec stat -c '%f %s %Y %n' {} + 2>/dev/null | while IFS=' ' read -r raw size time name; do
    case $raw in
    8*) kind=f ;; 4*) kind=d ;; a*) kind=l ;; *) kind=s ;;
    esac
    printf '%s %s %s %o %s\\0\\0' "$kind" "$size" "$time" "$((0x$raw & 4095))" "$name"
  done
fi
exit 0
`

/**
 * Takes an archive and puts all of it in its place at once, each file by renaming. `whole` is a name that comes last in
 * the archive: without it, it broke off, and what was gathered waits for the next one. Two never gather at once: one that
 * was cut off may begin late and hold half a file. The later one waits a few seconds; the one before may hang for hours,
 * so then it takes over, and the other puts nothing in its place.
 */
export const takeScript = `
LC_ALL=C; export LC_ALL; umask 022; bad=; s=.berth-sync;
place() {
find "$s/$1" -mindepth 1 -maxdepth 1 ! -type d -exec sh -c 'to=$1; shift; exec mv -f -- "$@" "$to"' sh "./$1" {} + 2>/dev/null || bad=1;
for e in "$s/$1"* "$s/$1".[!.]* "$s/$1"..?*; do
if [ -d "$e" ] && [ ! -L "$e" ]; then
t=\${e#"$s/"};
if [ -d "./$t" ]; then place "$t/"; else mv -f -- "$e" "./$t" 2>/dev/null || bad=1; fi;
fi;
done;
};
begin() {
for left in 5 4 3 2 1; do
if (set -C; echo $$ >"$s.pid") 2>/dev/null; then return; fi;
if kill -0 "$(cat "$s.pid" 2>/dev/null)" 2>/dev/null; then sleep 1; else rm -f -- "$s.pid"; fi;
done;
echo $$ >"$s.pid";
};
own() { [ "$(cat "$s.pid" 2>/dev/null)" = $$ ]; };
take() {
cd -- "$remote" 2>/dev/null || { echo refused; return; };
begin;
if [ -n "$fresh" ]; then rm -rf -- "$s"; elif [ -e "$s/$whole" ]; then rm -f -- "$s/$whole"; fi;
said=$({ [ -d "$s" ] || mkdir -- "$s"; } 2>&1 && tar -xof - -C "$s" 2>&1 >/dev/null); code=$?;
case $said in *'No space left'*|*'quota exceeded'*|*'Quota exceeded'*) echo full; return ;; esac;
if [ $code -ne 0 ]; then printf 'failed %.300s' "$said"; return; fi;
if [ ! -f "$s/$whole" ] || ! own; then echo broken; return; fi;
rm -f -- "$s/$whole";
place '';
if [ -n "$bad" ]; then echo unplaced; return; fi;
rm -rf -- "$s";
echo done;
};
take; if own; then rm -f -- "$s.pid"; fi
`

/** Gives an archive of the files that its input names, NUL behind each; several in a row where `tar` takes no list. */
export const giveScript = `
cd -- "$remote" 2>/dev/null || exit 3;
case $tar in
gnu|bsd) exec tar --null --no-recursion -cf - -T - 2>/dev/null ;;
*) exec xargs -0 tar -cf - 2>/dev/null ;;
esac
`
