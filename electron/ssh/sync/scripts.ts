import { shellQuoted } from '../exec.ts'

/**
 * The scripts that run on instances, in POSIX shell with the usual programs of GNU or BusyBox. `remote` is the folder.
 * Scripts and values are sent over standard input, so that nothing of them is on a command line.
 */

/**
 * Whether a process runs. One that has ended stays as a zombie where the container's first process, as `sleep`, asks
 * after no children; `kill -0` counts it as running.
 */
const runs = `runs() { kill -0 "$1" 2>/dev/null && ! grep -qs '^State:.Z' "/proc/$1/status"; };`

/**
 * Prints what `find` finds, with NUL between all fields, each after a mark. Without `find -printf`, as in BusyBox,
 * entries are read by lines, so names with line breaks are left out. With the mark `>`, links stand for their targets.
 */
const show = `show() {
  mark=$1; shift
  if find . -maxdepth 0 -printf '' 2>/dev/null; then
    find "$@" -printf "$mark%y %s %T@ %m %C@ %p\\0%l\\0" 2>/dev/null
    return
  fi
  through=; [ "$mark" != '>' ] || through=-L
  line='
'
  find "$@" ! -name "*$line*" -exec stat $through -c '%f %s %Y %Z %n' {} + 2>/dev/null |
  while IFS=' ' read -r raw size time changed name; do
    case $raw in
    8*) kind=f ;; 4*) kind=d ;; a*) kind=l ;; *) kind=s ;;
    esac
    printf '%s%s %s %s %o %s %s\\0\\0' "$mark" "$kind" "$size" "$time" "$((0x$raw & 4095))" "$changed" "$name"
  done
}`

/**
 * Lists where links lead, each under the link's own path: the target itself after the mark `>`, what is in it after
 * `+`. `roots`: the folders and files that are listed anyway, a line each. A link into one of them gets the mark `=` and
 * the path of what it leads to at its end, unless it was asked for by its name. Not followed is what leads nowhere, to a
 * folder of the system, or to one around the listed folder.
 */
const follow = `
for link; do
  [ -e "$link" ] && to=$(readlink -f -- "$link" 2>/dev/null) || continue
  around=; inside=
  case $here/ in "$to"/*) around=yes ;; esac
  case $to/ in
  // | /bin/ | /boot/ | /dev/ | /etc/ | /home/ | /lib/ | /lib32/ | /lib64/ | /opt/ | /proc/* | /root/ | /run/) around=yes ;;
  /sbin/ | /srv/ | /sys/* | /tmp/ | /usr/ | /usr/lib/ | /usr/local/ | /usr/share/ | /var/) around=yes ;;
  esac
  while IFS= read -r root; do
    [ -n "$root" ] || continue
    case $to/ in "$root"/*) inside=yes ;; esac
  done <<END
$roots
END
  if [ -n "$inside" ] && [ -z "$named" ]; then
    case $to in "\${here%/}"/*) to=\${remote%/}/\${to#"\${here%/}"/} ;; *) to=$(readlink -- "$link") ;; esac
    printf '=l 0 0 777 %s\\0%s\\0' "$link" "$to"
    continue
  fi
  if [ ! -d "$link" ]; then show '>' -H "$link"; continue; fi
  [ -z "$around" ] || continue
  show '>' -H "$link" -maxdepth 0
  show '+' -H "$link" -mindepth 1
  (
    roots="$roots
$to"; named=; export roots named
    find -H "$link" -mindepth 1 -type l -exec sh -c 'eval "$show"; eval "$follow"' sh {} + 2>/dev/null
  )
done`

/**
 * Lists its arguments. With `make`, it first waits up to 5 seconds for a `takeScript` of an interrupted sync that still
 * runs and may put files in place. With `links`, links are followed, and the files that a program has open for writing come
 * last, with the mark `!`, as far as the system tells. `after`: seconds to wait before.
 */
export const listScript = `
LC_ALL=C; export LC_ALL
show=${shellQuoted(show)}
follow=${shellQuoted(follow)}
eval "$show"
[ "$after" = 0 ] || sleep "$after"
${runs}
cd -- "$remote" 2>/dev/null || {
  [ -z "$make" ] || mkdir -p -- "$remote" 2>/dev/null
  cd -- "$remote" 2>/dev/null || { echo 'berth-sync refused'; exit; }
}
if [ -n "$make" ] && pid=$(cat .berth-sync.pid 2>/dev/null); then
  left=5
  while [ $left -gt 0 ] && runs "$pid"; do sleep 1; left=$((left - 1)); done
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
show '' "$@"
if [ -n "$links" ]; then
  here=$(pwd -P); roots=
  for start; do
    roots="$roots
$([ ! -e "$start" ] || readlink -f -- "$start" 2>/dev/null)"
  done
  named=yes; export here remote roots named show follow
  for start; do
    [ ! -L "$start" ] || sh -c 'eval "$show"; eval "$follow"' sh "$start"
  done
  named=
  find "$@" -mindepth 1 -type l -exec sh -c 'eval "$show"; eval "$follow"' sh {} + 2>/dev/null
  to=" -> \${here%/}/"
  ls -l /proc/[0-9]*/fd 2>/dev/null | grep -F -e "$to" | while IFS= read -r fd; do
    case $fd in l?w*) printf '! ./%s\\0\\0' "\${fd#*"$to"}" ;; esac
  done
fi
exit 0
`

/**
 * Unpacks an archive into the staging folder, then renames each file into place. `whole` is the archive's last entry:
 * without it the archive is incomplete, and the staged files wait for the next sync. Only one script may use the
 * staging folder, since an interrupted one may begin late and leave half a file. The later script waits up to 5
 * seconds, then takes over, since the earlier may hang for hours; the earlier then places nothing.
 */
export const takeScript = `
LC_ALL=C; export LC_ALL; umask 022; bad=; s=.berth-sync;
${runs}
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
if runs "$(cat "$s.pid" 2>/dev/null)"; then sleep 1; else rm -f -- "$s.pid"; fi;
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

/**
 * Archives the files that its input names, NUL after each, and the targets of links; several archives if `tar` reads no
 * list. With GNU tar a second name of a file comes with its content, too, and not as a hard link.
 */
export const giveScript = `
cd -- "$remote" 2>/dev/null || exit 3;
case $tar in
gnu) exec tar --null --no-recursion --hard-dereference -hcf - -T - 2>/dev/null ;;
bsd) exec tar --null --no-recursion -hcf - -T - 2>/dev/null ;;
*) exec xargs -0 tar -hcf - 2>/dev/null ;;
esac
`
