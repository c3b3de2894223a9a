# Whether a name is plainly that of a file that isn't ready yet, which tells nothing of those beside it.
berth_is_temporary() {
  case ${1##*/} in *.tmp | *.part | *.incomplete | *~ | .*.swp) return 0 ;; esac
  return 1
}

# Whether the next version of a file is being written beside it under such a name: then this one was put in its place whole.
berth_has_next() {
  for berth_next in "$1.tmp" "$1.part" "$1.incomplete"; do
    [ ! -f "$berth_next" ] || [ -z "$(find "$berth_next" -newer "$1")" ] || return 0
  done
  return 1
}

# Whether a file may be one of several that are saved together, of which others are yet to come: by the names of all files, in a
# list, another folder has one of its name, or its own folder another one with its ending.
berth_has_kin() {
  berth_name=${1##*/} berth_ending=
  case $berth_name in *.*) berth_ending=${berth_name##*.} ;; esac
  while IFS= read -r berth_other; do
    if [ "$berth_other" = "$1" ] || berth_is_temporary "$berth_other"; then continue; fi
    [ "${berth_other##*/}" != "$berth_name" ] || return 0
    [ "${berth_other%/*}" = "${1%/*}" ] || continue
    berth_other=${berth_other##*/}
    case $berth_other in
      *.*) [ "${berth_other##*.}" != "$berth_ending" ] || return 0 ;;
      *) [ -n "$berth_ending" ] || return 0 ;;
    esac
  done < "$2"
  return 1
}

# The names of logs, in small letters.
berth_log_names='^events[.]|tfevents|(^|[^a-z])logs?([^a-z]|$)|[.](jsonl|csv|tsv|out|err|wandb)$'

# Files of checkpoints that lack parts, which may still come. Reads of each file its time in epoch seconds, `here` or `left` where it
# doesn't count, and its path. A save is a folder, or the files in a folder with the same number in their names, if all of it came
# within ten minutes. It lacks parts where it has fewer files than the one before it whose name differs in numbers alone, and one of its
# files is left, or came at $1 in epoch seconds or later. In a folder, files whose names differ in numbers alone and that came more than 15
# seconds apart are a series, of which one is enough.
berth_unfinished() {
  sort -rn | awk -v since="$1" -v logs="$berth_log_names" '
    {
      path = $0; sub("^[0-9]* [a-z]* ", "", path)
      name = path; sub(".*/", "", name)
      if (tolower(name) ~ logs || name ~ /([.](tmp|part|incomplete)|~|^[.].*[.]swp)$/) next
      folder = substr(path, 1, length(path) - length(name)); within = ""
      for (place = folder; place != "" && place != "/"; place = above) {
        above = substr(place, 1, length(place) - 1); sub("[^/]*$", "", above)
        own = substr(place, length(above) + 1)
        if (own ~ /[0-9]/) note(above shape(own), place, shape(substr(path, length(place) + 1)))
      }
      rest = name
      for (i = 1; match(rest, /[0-9]+/); i++) {
        note(folder shape(name) " " i, folder " " substr(rest, RSTART, RLENGTH), "any")
        rest = substr(rest, RSTART + RLENGTH)
      }
      paths[NR] = path; saves[NR] = within
    }
    END {
      for (kind in number)
        for (i = 1; i < number[kind]; i++) {
          save = listed[kind, i]
          if (!isLeft[save] && newest[save] < since || newest[save] - oldest[save] > 600) continue
          for (j = i + 1; j <= number[kind]; j++) {
            before = listed[kind, j]
            if (newest[before] > oldest[save]) continue
            if (newest[before] - oldest[before] <= 600 && total[save] < total[before] && hasFewer(save, before)) lacks[save] = 1
            break
          }
        }
      for (i = 1; i <= NR; i++) {
        size = split(saves[i], one, "\n")
        for (j = 1; j <= size; j++) if (one[j] in lacks) { print paths[i]; break }
      }
    }
    function shape(text) { gsub(/[0-9]+/, "0", text); return text }
    function hasFewer(save, before, size, one, i) {
      size = split(shapes[before], one, "\n")
      for (i = 1; i < size; i++)
        if (count[save, one[i]] < count[before, one[i]] && (!count[save, one[i]] || !isSeries[before, one[i]])) return 1
      return 0
    }
    function note(kind, save, part) {
      if (!((kind, save) in known)) { known[kind, save] = 1; listed[kind, ++number[kind]] = save }
      if (last[save] == NR) return
      last[save] = NR; within = within save "\n"
      if (!(save in newest)) newest[save] = $1
      if (!((save, part) in at)) shapes[save] = shapes[save] part "\n"
      else if (part != "any" && at[save, part] - $1 > 15) isSeries[save, part] = 1
      oldest[save] = at[save, part] = $1
      total[save] += $2 == "here"; count[save, part] += $2 == "here"; if ($2 == "left") isLeft[save] = 1
    }'
}
