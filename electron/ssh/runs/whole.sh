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

# Whether the folder that was written to last, at $1 in epoch seconds or later, has fewer entries than the one before it whose name
# differs in numbers alone: parts of a checkpoint may still come. Reads the names of all files.
berth_lacks_parts() {
  sed 's,/[^/]*$,,' | sort -u | tr '\n' '\0' | xargs -0 stat -c '%Y %n' 2>/dev/null | sort -rn | awk -v since="$1" '
    {
      at = $1
      sub("^[0-9]* ", "")
      place = $0; sub("[^/]*$", "", place)
      kind = substr($0, length(place) + 1); gsub("[0-9]+", "0", kind)
    }
    NR == 1 { if (at < since) exit; newest = place kind; print; next }
    place kind == newest { print; exit }
  ' | {
    IFS= read -r berth_last && IFS= read -r berth_before &&
      [ "$(find "$berth_last/" | wc -l)" -lt "$(find "$berth_before/" | wc -l)" ]
  }
}
