# Prints the links below a result that lead out of it, each on a line: to a file, or to a folder that is neither around it nor one
# of the system. What they lead to is part of the results, under the link's path, as in a download.
berth_outward() {
  berth_root=$(readlink -f "$1") || return 0
  find -H "$1" -type l 2>/dev/null | while IFS= read -r berth_link; do
    [ -f "$berth_link" ] || [ -d "$berth_link" ] || continue
    berth_to=$(readlink -f "$berth_link") || continue
    case $berth_to/ in
      "$berth_root"/*) continue ;;
      // | /bin/ | /boot/ | /dev/ | /etc/ | /home/ | /lib/ | /lib32/ | /lib64/ | /opt/ | /proc/* | /root/ | /run/) continue ;;
      /sbin/ | /srv/ | /sys/* | /tmp/ | /usr/ | /usr/lib/ | /usr/local/ | /usr/share/ | /var/) continue ;;
    esac
    case $berth_root/ in "$berth_to"/*) continue ;; esac
    printf '%s\n' "$berth_link"
  done
}
