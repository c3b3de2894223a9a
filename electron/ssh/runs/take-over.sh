# Takes over what another machine had newer, whole files alone: what was copied of it is in the folder `side`, as `alive`,
# the time at which its command last ran, with its exit code where it had ended, and in folders 0, 1 … its results. A file
# that was changed within `rest` seconds before its end may be half of one; '' where none can be. It is left, with those beside it
# that were written just before it. Where there is an older whole version of such a file, nothing is taken, since others may
# belong to it; but a file that only grows, as a log does, is. A folder of which nothing is taken isn't made, as a program may
# take it for its newest checkpoint; one that came empty is. `differ`: all that came differs from what is here, and counts
# whatever its time says, which a program may have set. `project`: the folder of the results here, `origin` there, which links may
# name. Names with a line end are left out. look NUMBER PATH, for the results
# with that number, goes before find_put, after which it goes again where that finds something, and before take NUMBER PATH, which
# is quick for any number of files. Prints `taken over`, how many files
# came, how many were taken, the time of the newest whole one, that end, how many may be half and were left, and the exit code
# or -.

found=0 taken=0 newest=0 left=0 torn='' whole=
read -r end code _ 2>/dev/null < "$side/alive/alive"
case $end in
  '' | *[!0-9]*) end=0 ;;
esac
case $code in
  '' | *[!0-9]* | ????*) code=- ;;
esac
# What has ended by itself had written all of its files then.
[ -z "$rest" ] || [ "$code" = - ] || [ "$code" -ge 128 ] || rest=0
line_end='
'
# The next command waits for this one.
[ ! -d "$side" ] || echo $$ > "$side/taking"

# Whether a file begins with all of another one.
continues() {
  size=$(stat -c %s "$2") && [ "$(stat -c %s "$1")" -ge "$size" ] && head -c "$size" "$1" | cmp -s - "$2"
}

# The one file or folder that a result came as.
find_result() {
  from=$(find "$side/$1" -mindepth 1 -maxdepth 1 2>/dev/null | head -n 1)
  [ -n "$from" ]
}

# Files beside one that is left and written just before it may be of one checkpoint.
find_beside() {
  sort -k1,1rn -k2,2 "$side/$1.young" | awk -v most="${rest:-0}" '
    { folder = $0; sub("^[0-9]* [a-z]* ", "", folder); file = folder; sub("/[^/]*$", "", folder) }
    $2 == "left" { edge[folder] = $1; next }
    $2 == "taken" && folder in edge && edge[folder] - $1 <= most { edge[folder] = $1; print file }'
}

# Leaves files that were to be taken, on a line each in `$side/leave`.
leave() {
  while IFS= read -r file; do
    taken=$((taken - 1)) left=$((left + 1))
    printf '%s\n' "$file"
  done < "$side/leave" >> "$side/$1.not"
}

# The time of the newest that is taken.
find_newest() {
  time=$(not=$side/$1.not awk -v newest="$newest" '
    BEGIN { while ((getline file < ENVIRON["not"]) > 0) isLeft[file] = 1 }
    { file = $0; sub("^[0-9]* [a-z]* ", "", file) }
    $2 != "left" && !(file in isLeft) && $1 > newest { newest = $1 }
    END { print newest }
  ' "$side/$1.young")
  newest=$time
}

# Whether a copied file was put in its place once it was whole: its folder changed after it, before the end, and has that time
# here if the service copied it. Or at once, where it's more than is written within a tick of the kernel's clock.
was_put() {
  ! berth_has_next "$1" || return 0
  folder=${1%/*}
  case ${folder#"$side"/} in */*) ;; *) return 1 ;; esac
  [ -z "$differ" ] && [ -s "$1" ] && [ "$(stat -c %Y "$folder")" -le $((end + 5)) ] || return 1
  [ -z "$(find "$folder" -maxdepth 0 -newer "$1")" ] || return 0
  written=$(stat -c %y "$1")
  case $written in *.000000000*) return 1 ;; esac
  [ "$written" = "$(stat -c %y "$folder")" ] && [ "$(stat -c %s "$1")" -ge 134217728 ] &&
    [ -n "$(tail -c 4096 "$1" | tr -d '\000')" ]
}

# Whether one file alone may be half by its time, and is not: then it is looked at again.
find_put() {
  whole=$(cat "$side/half" 2>/dev/null)
  case $whole in '' | *"$line_end"*) return 1 ;; esac
  cut -d ' ' -f 2- "$side"/[0-9]*.files > "$side/all"
  ! berth_has_kin "$whole" "$side/all" && was_put "$whole" || return
  rm -f "$side/half"
  found=0 taken=0 newest=0 left=0 torn=
}

# How many files may be half, and are neither logs nor there in an earlier version: what names the newest checkpoint may be one.
count_missed() {
  missed=$(sed 's,.*/,,' "$side/half" 2>/dev/null | grep -viEc "$berth_log_names")
}

# Prints what a small file or a link names: it is a name, or the number in which one ends, if its own name says that it is no
# program's progress, or all of its texts in quotes are names, but for
# keys, or what names have before a dot. Fails where it's nothing of that.
find_goals() {
  folder=${1%/*}
  if [ -L "$1" ]; then name=$(readlink "$1"); else name=$(tr -d '\000' < "$1"); fi
  case $name in
    '' | .* | */.*) return 1 ;;
    *'"'*)
      names=$(printf '%s\n' "$name" | awk -F '"' '{ for (i = 2; i < NF; i += 2) if ($(i + 1) !~ /^[ \t]*:/) print $i }')
      [ -n "$names" ] || return
      printf '%s\n' "$names" | while IFS= read -r name; do
        case $name in '' | .* | */.*) exit 1 ;; esac
        ls -d "$folder/${name##*/}" 2>/dev/null || ls -d "$folder/${name##*/}".* 2>/dev/null || exit
      done
      return
      ;;
    *"$line_end"*) return 1 ;;
    /*) name=${name##*/} ;;
  esac
  [ "$name" != "${1##*/}" ] || return
  ! ls -d "$folder/$name" 2>/dev/null || return 0
  case $name in *[!0-9]*) return 1 ;; esac
  case ${1##*/} in *[Ll]atest* | *[Ll]ast* | *[Cc]heckpoint* | *[Cc]kpt*) ;; *) return 1 ;; esac
  for one in "$folder"/*; do
    number=${one##*[!0-9]}
    if [ -n "$number" ] && [ "$one" != "$1" ] && [ "$number" -eq "$name" ] 2>/dev/null; then
      printf '%s\n' "$one"
      return
    fi
  done
  return 1
}

# Lists the files that came, and aren't left, of checkpoints that lack parts without those that are. What is here, and isn't
# replaced, counts.
list_unfinished() {
  : > "$side/$1.unfinished"
  [ "${rest:-0}" -gt 0 ] || return 0
  [ ! -d "$2" ] || (cd "$2" && find . -type f -exec stat -c '%Y %n' {} +) > "$side/$1.here"
  from=$from not=$side/$1.not here=$side/$1.here awk '
    BEGIN {
      while ((getline file < ENVIRON["not"]) > 0) isLeft[file] = 1
      while ((getline line < ENVIRON["here"]) > 0) {
        split(line, part, " ")
        at[ENVIRON["from"] substr(line, length(part[1]) + 3)] = part[1]
      }
    }
    {
      file = $0; sub("^[0-9]* ", "", file)
      print $1, file in isLeft && !(file in at) ? "left" : "here", file
      delete at[file]
    }
    END { for (file in at) print at[file], "here", file }
  ' "$side/$1.files" | berth_unfinished "$((end - 60))" | not=$side/$1.not awk '
    BEGIN { while ((getline file < ENVIRON["not"]) > 0) isLeft[file] = 1 }
    NR == FNR { sub("^[0-9]* ", ""); came[$0] = 1; next }
    $0 in came && !($0 in isLeft)
  ' "$side/$1.files" - > "$side/$1.unfinished"
}

# The files that are whole since one that names them was written after them all, as DeepSpeed's `latest`, Megatron's iteration,
# TensorFlow's `checkpoint`, or a link to the last one; and that one.
find_named() {
  : > "$side/$1.named"
  [ -n "$rest" ] && [ "$rest" -gt 0 ] && touch -d "@$((end - rest))" "$side/edge" || return 0
  find "$from" '(' -type l -o -type f -size -5 ')' -newer "$side/edge" | while IFS= read -r pointer; do
    [ "$(stat -c %Y "$pointer")" -le $((end + 5)) ] && find_goals "$pointer" > "$side/goals" || continue
    while IFS= read -r goal; do
      # Not by what a link leads to, which is the goal.
      find "$goal" -type f -newer "$pointer"
      [ ! -s "$side/$1.unfinished" ] || find "$goal" -type f | grep -xF -f "$side/$1.unfinished"
    done < "$side/goals" > "$side/later"
    [ ! -s "$side/later" ] || continue
    while IFS= read -r goal; do find "$goal" -type f; done < "$side/goals"
    printf '%s\n' "$pointer"
  done > "$side/$1.named"
}

# The young files, which may be half; none where they are too many to be looked at one by one.
find_young() {
  : > "$side/young"
  [ "${rest:-0}" -gt 0 ] || return 0
  awk -v edge="$((end - rest))" '$1 > edge { sub("^[0-9]* ", ""); print }' "$side/$1.files" > "$side/young"
  [ "$(wc -l < "$side/young")" -le 100 ] || : > "$side/young"
}

# Those that are whole since there are two of the same bytes, as of a last checkpoint that is saved a second time: one that is
# still being written is shorter. Of small ones that may be chance.
find_copies() {
  while IFS= read -r file; do
    size=$(stat -c %s "$file")
    [ "$size" -ge 4096 ] || continue
    find "$from" -type f -size "${size}c" ! -path "$file" | while IFS= read -r other; do
      if cmp -s "$file" "$other" && [ -n "$(tail -c 4096 "$file" | tr -d '\000')" ]; then
        printf '%s\n' "$file"
        break
      fi
    done
  done < "$side/young" >> "$side/$1.named"
}

# Those that are whole since each of their brackets is closed, if all else that is young is known to be whole, or a log, and no
# other result has any: such texts tell of what is saved beside them.
find_texts() {
  : > "$side/texts"
  touch -d "@$((end - ${rest:-0}))" "$side/edge"
  for other in "$side"/[0-9]*/; do
    [ "$other" = "$side/$1/" ] || [ -z "$(find "$other" -type f -newer "$side/edge" | head -n 1)" ] || return 0
  done
  while IFS= read -r file; do
    if berth_is_temporary "$file" || grep -qxF -e "$file" "$side/$1.named" ||
      printf '%s\n' "${file##*/}" | grep -qiE "$berth_log_names"; then continue; fi
    case $file in *.json) is_closed "$file" || return 0 ;; *) return 0 ;; esac
    printf '%s\n' "$file" >> "$side/texts"
  done < "$side/young"
  cat "$side/texts" >> "$side/$1.named"
}

is_closed() {
  [ "$(stat -c %s "$1")" -le 1048576 ] && awk '
    {
      for (i = 1; i <= length($0); i++) {
        letter = substr($0, i, 1)
        if (isEscaped) isEscaped = 0
        else if (isQuoted && letter == "\\") isEscaped = 1
        else if (letter == "\"") isQuoted = !isQuoted
        else if (isQuoted) continue
        else if (letter == "{" || letter == "[") { open++; any = 1 }
        else if (letter == "}" || letter == "]") open--
      }
    }
    END { exit !any || open != 0 || isQuoted }' "$1"
}

# Counts a result's files, and lists those that aren't taken.
look() {
  find_result "$1" || return 0
  find "$from" -depth -name "*$line_end*" -exec rm -rf {} +
  find "$from" -type f -exec stat -c '%Y %n' {} + > "$side/$1.files"
  : > "$side/$1.not"
  list_unfinished "$1" "$2"
  find_named "$1"
  find_young "$1"
  find_copies "$1"
  find_texts "$1"
  while IFS= read -r line; do
    modified=${line%% *} file=${line#* }
    target=$2${file#"$from"}
    found=$((found + 1))
    if [ -s "$side/$1.unfinished" ] && grep -qxF -e "$file" "$side/$1.unfinished"; then
      left=$((left + 1))
      printf '%s\n' "$file" >> "$side/half"
      printf '%s\n' "$file" >&3
      continue
    fi
    if [ -n "$rest" ] && [ "$modified" -gt $((end - rest)) ] && [ "$file" != "$whole" ]; then
      if [ -s "$side/$1.named" ] && grep -qxF -e "$file" "$side/$1.named"; then
        taken=$((taken + 1))
        printf '%s named %s\n' "$modified" "$file" >&4
        continue
      fi
      if berth_is_temporary "$file"; then
        left=$((left + 1))
        printf '%s\n' "$file" >&3
        continue
      fi
      if [ ! -f "$target" ]; then
        left=$((left + 1))
        printf '%s\n' "$file" >> "$side/half"
        printf '%s\n' "$file" >&3
        printf '%s left %s\n' "$modified" "$file" >&4
        continue
      fi
      if ! continues "$file" "$target"; then
        torn=1
        printf '%s\n' "$file" >> "$side/half"
      fi
    elif [ -z "$differ" ] && [ -e "$target" ] && [ ! "$file" -nt "$target" ]; then
      printf '%s\n' "$file" >&3
      continue
    else printf '%s taken %s\n' "$modified" "$file" >&4
    fi
    taken=$((taken + 1))
  done < "$side/$1.files" 3> "$side/$1.not" 4> "$side/$1.young"
  find_beside "$1" > "$side/leave"
  leave "$1"
  list_unfinished "$1" "$2"
  mv "$side/$1.unfinished" "$side/leave"
  leave "$1"
  find_newest "$1"
}

# Removes the folders that have become empty by what was removed from them.
remove_emptied() {
  cat "$side/$1.not" "$side/$1.links" | while IFS= read -r file; do
    file=${file#"$from"/}
    case $file in */*) printf '%s\n' "${file%/*}" ;; esac
  done | sort -u | (cd "$from" && tr '\n' '\0' | xargs -0 rmdir -p) 2> /dev/null
}

# A result, a link's path in it and its goal, once the files are there: none leads to one that was left out.
link() {
  target=$1/$2 folder=$(dirname "$1/$2") made= goal=$3
  if [ -e "$target" ] && [ ! -L "$target" ]; then return 0; fi
  was=$origin/${1#"$project"/}/
  case $goal in
    # Where the result was; the next machine may have it elsewhere.
    "$was"*) goal=$(printf '%s/' "$2" | sed 's,[^/]*/,../,g; s,^[.][.]/,,')${goal#"$was"} ;;
    /*) return 0 ;;
  esac
  [ -d "$folder" ] || made=1
  mkdir -p "$folder" || return
  if [ -e "$folder/$goal" ]; then
    ln -sfn "$goal" "$target"
  elif [ -n "$made" ]; then (cd "$1" && rmdir -p "$(dirname "$2")") 2> /dev/null; fi
}

# Links need neither time nor room, where both are on one disk.
put() {
  mkdir -p "$2" && cp -alf "$1" "$2" 2>/dev/null || cp -af "$1" "$2"
}

# The same where the next machine has links that lead out of the result, as its set-up made them: to where these lead, also where
# nothing is there yet.
put_all() {
  root=$(readlink -f "$2")
  { berth_outward "$2" && find -H "$2" -type l ! -exec test -e {} ';' -print; } > "$side/outward" 2>/dev/null
  while IFS= read -r link; do
    part=$1${link#"$2"} goal=$(readlink -f "$link")
    [ -e "$part" ] || continue
    case $goal in
      '' | "$root"/*) rm -f "$link" && continue || return ;;
    esac
    if [ ! -d "$part" ]; then
      [ ! -d "$link" ] && put_file "$part" "$goal" || return
    else put "$part/." "$goal" || return
    fi
    rm -rf "$part"
  done < "$side/outward"
  put "$1/." "$2"
}

# Into its folder, and in its place in one step.
put_file() {
  mkdir -p "$(dirname "$2")"
  put "$1" "$2.berth" && mv -f "$2.berth/${1##*/}" "$2" && rmdir "$2.berth"
}

take() {
  [ -z "$torn" ] && find_result "$1" || return 0
  tr '\n' '\0' < "$side/$1.not" | xargs -0 rm -f
  find "$from" -type l > "$side/$1.links"
  while IFS= read -r file; do
    goal=$(readlink "$file") && printf '%s\n' "${file#"$from"/}" "$goal" >&3
    rm -f "$file"
  done < "$side/$1.links" 3> "$side/$1.goals"
  if [ -d "$from" ]; then
    remove_emptied "$1"
    put_all "$from" "$2" || exit 1
  elif [ -f "$from" ]; then
    target=$2
    [ ! -L "$2" ] || target=$(readlink -f "$2")
    put_file "$from" "$target" || exit 1
  fi
  # A link may lead to one that comes after it.
  for _ in 1 2 3; do
    while IFS= read -r file && IFS= read -r goal; do link "$2" "$file" "$goal"; done < "$side/$1.goals"
  done
}
