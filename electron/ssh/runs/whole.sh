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
