# Takes over what another machine had newer, whole files alone: what was copied of it is in the folder `side`, as `alive`,
# the time at which its command last ran, and in folders 0, 1 … its results. A file that was changed within `rest` seconds
# before its end may be half of one. Where there is an older whole version of such a file, nothing is taken, since others may
# belong to it; but a file that only grows, as a log does, is. `differ`: all that came differs from what is here, and counts
# whatever its time says, which a program may have set. Names with a line end are left out. take NUMBER PATH: of the
# result with that number, to a path. Prints `taken over`, how many files came, how many were taken, the time of the newest
# whole one, that end, and how many may be half and were left.

found=0 taken=0 newest=0 left=0 torn=
read -r end 2>/dev/null < "$side/alive/alive"
case $end in
  '' | *[!0-9]*) end=0 ;;
esac

# Whether a file begins with all of another one.
continues() {
  size=$(stat -c %s "$2") && [ "$(stat -c %s "$1")" -ge "$size" ] && head -c "$size" "$1" | cmp -s - "$2"
}

# Lists a result's files, `FILE` or below it, and where each goes; `step`: what is done with each.
each() {
  from=$(find "$side/$1" -mindepth 1 -maxdepth 1 2>/dev/null | head -n 1)
  [ -n "$from" ] || return 0
  find "$from" -type "$3" > "$side/list"
  while IFS= read -r file; do
    target=$2${file#"$from"}
    "$4"
  done < "$side/list"
}

look() {
  found=$((found + 1))
  [ "$rest" -gt 0 ] || return 0
  modified=$(stat -c %Y "$file") && [ "$modified" -gt $((end - rest)) ] && [ -f "$target" ] || return 0
  continues "$file" "$target" || torn=1
}

move() {
  modified=$(stat -c %Y "$file") || return 0
  if [ "$rest" -gt 0 ] && [ "$modified" -gt $((end - rest)) ]; then
    if [ ! -f "$target" ]; then
      left=$((left + 1))
      return 0
    fi
  elif [ -z "$differ" ] && [ -e "$target" ] && [ ! "$file" -nt "$target" ]; then return 0
  elif [ "$modified" -gt "$newest" ]; then newest=$modified
  fi
  mkdir -p "$(dirname "$target")" && mv -f "$file" "$target" && taken=$((taken + 1))
}

# After the files, so that none leads to one that was left out.
link() {
  if [ -e "$target" ] && [ ! -L "$target" ]; then return 0; fi
  goal=$(readlink "$file")
  case $goal in
    /*) return 0 ;;
  esac
  mkdir -p "$(dirname "$target")" && [ -e "$(dirname "$target")/$goal" ] && ln -sfn "$goal" "$target"
}

take() {
  case $2 in
    look) each "$1" "$3" f look ;;
    *) [ -n "$torn" ] || { each "$1" "$3" f move && each "$1" "$3" l link; } ;;
  esac
}
