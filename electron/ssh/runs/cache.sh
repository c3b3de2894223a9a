# Keeps folders of the machine on its volume: each becomes a link to a folder there, which gets its files. No file is ever
# removed before a whole copy of it is on the volume, so this can be repeated after any interruption. Needs: at, where the
# volume is mounted. keep FOLDER NAME: NAME is the folder’s place on the volume; on_volume FOLDER checks it. Prints why
# it failed.

volume=$(cd -- "$at" 2>/dev/null && pwd -P) && [ "$volume" != / ] || {
  echo "the volume isn't mounted at $at"
  exit 1
}

keep() {
  kept=$volume/$2
  # An earlier Berth may have left a link to itself.
  if [ -L "$kept" ] && [ ! -e "$kept" ]; then rm -f -- "$kept"; fi
  said=$(mkdir -p -- "$kept" "$(dirname -- "$1")" 2>&1) || refuse "$1" "$said" || return
  # A link that was moved there may lead back to the machine’s own disk.
  case $(cd -- "$kept" && pwd -P) in
    "$volume"/*) ;;
    *) refuse "$1" 'a link there leads elsewhere' || return ;;
  esac
  place=$(place_of "$1") || return
  case $place in
    "$volume"/*)
      mkdir -p -- "$place"
      return
      ;;
  esac
  # Its files would go into itself, or Berth’s own with them.
  case $place in /*/*) ;; *) refuse "$1" "it is $place" || return ;; esac
  for other in "$volume" "$HOME/berth" "$HOME/.ssh" "$HOME/.berth"; do
    case $other/ in "$place"/*) refuse "$1" "$other is in it" || return ;; esac
  done
  while read -r _ mount _; do
    # A space in it is written as its number.
    mount=$(printf '%b.' "$mount")
    case ${mount%.} in "$place" | "$place"/*) refuse "$1" "${mount%.} is another disk" || return ;; esac
  done 2>/dev/null < /proc/mounts
  # Before anything is copied: whether the folder’s name can be given to a link.
  try=${place%/*}/.berth-part
  said=$(mkdir -p -- "$try" 2>&1 && rmdir -- "$try" 2>&1) || refuse "$1" "$said" || return
  if [ -d "$place" ]; then
    said=$(move_files "$place" "$kept") || refuse "$1" "$said" || return
    said=$(set_aside "$place" 2>&1) || refuse "$1" "$said" || return
  elif [ -e "$place" ]; then
    refuse "$1" 'it is a file' || return
  fi
  said=$(ln -s -- "$kept" "$place" 2>&1) || refuse "$1" "$said"
}

refuse() {
  echo "$1 can't be kept on the volume: $2"
  return 1
}

# Whether a folder leads to one on the volume.
on_volume() {
  case $(cd -- "$1" 2>/dev/null && pwd -P) in
    "$volume"/*) ;;
    *) refuse "$1" 'its files there are in the way' ;;
  esac
}

# Where a link leads in the end. Of one that leads into itself, GNU's readlink would follow ever longer paths.
goal='goal() {
  if [ -d "$1" ]; then (cd -- "$1" && pwd -P) && return; fi
  [ -e "$1" ] || case $(LC_ALL=C cat -- "$1" 2>&1 < /dev/null) in *"oo many "* | *"link loop"*) return 1 ;; esac
  readlink -f -- "$1"
}'

# Where a folder is or would be, without links in its path.
place_of() {
  above=$(cd -- "$(dirname -- "$1")" && pwd -P) || return
  place=${above%/}/$(basename -- "$1")
  if [ -L "$place" ]; then
    eval "$goal"
    place=$(goal "$place") && [ -n "$place" ] || {
      echo "$1 is a link that leads nowhere" >&2
      return 1
    }
  fi
  printf '%s\n' "$place"
}

# Moves the files of a folder to another, and leaves those of which that has another version.
move_files() {
  said=$(
    cd -- "$1" || exit
    find . -xdev -type d -exec sh -c 'to=$1; shift; for d; do mkdir -p -- "$to/$d" 2>/dev/null; done' sh "$2" {} +
    find . -xdev '(' -type f -o -type l ')' -exec sh -c "$goal
$move" sh "$2" {} +
  ) 2>&1
  case $said in *berth-failed*) printf '%s\n' "${said%%berth-failed*}" && return 1 ;; esac
}

move='to=$1; shift; part=$to/.berth-part
for f; do
  t=$to/$f
  if [ -e "$t" ] || [ -L "$t" ]; then
    if [ -L "$f" ]; then
      one=$(goal "$f") other=$(goal "$t")
      if [ "$one" = "$other" ] && [ -n "$one" ]; then rm -f -- "$f"; fi
    elif [ -f "$t" ] && [ ! -L "$t" ] && cmp -s -- "$f" "$t"; then rm -f -- "$f"
    fi
  elif [ -d "$(dirname -- "$t")" ]; then
    rm -f -- "$part"
    if cp -a -- "$f" "$part" && mv -- "$part" "$t"; then rm -f -- "$f"
    else rm -f -- "$part"; echo berth-failed; exit 1
    fi
  fi
done'

# Removes the empty folders, and keeps what is left under another name.
set_aside() {
  find "$1" -xdev -depth -type d -exec rmdir -- {} + 2>/dev/null
  [ -e "$1" ] || return 0
  number=1
  while [ -e "$1.kept-$number" ] || [ -L "$1.kept-$number" ]; do number=$((number + 1)); done
  mv -- "$1" "$1.kept-$number"
}
