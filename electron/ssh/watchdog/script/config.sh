# The watchdog: what it goes by. Its configuration, and who it is: its instance and that one's own key.

is_number() {
  case $1 in '' | *[!0-9]*) return 1 ;; esac
  return 0
}

read_config() {
  instance='' url='' action=stop at='' idle='' below=5 lease='' tick=10 told='' told_up='' boot=''
  while IFS='=' read -r name value; do
    case $name in
      url) url=$value ;;
      boot) boot=$value ;;
      action) [ "$value" = destroy ] && action=destroy ;;
      *)
        is_number "$value" || continue
        case $name in
          instance) instance=$value ;;
          at) at=$value ;;
          idle) idle=$value ;;
          below) below=$value ;;
          lease) lease=$value ;;
          tick) tick=$value ;;
          told) told=$value ;;
          told_up) told_up=$value ;;
        esac
        ;;
    esac
  done 2>/dev/null < "$here/config"
}

# Where the rental's start script brought it, it may not know the instance: some deployments tell it.
read_instance() {
  [ -n "$instance" ] && return
  named=${CONTAINER_ID:-}
  [ -n "$named" ] || named=$(environment_of_container CONTAINER_ID)
  named=${named#C.}
  is_number "$named" && instance=$named
}

environment_of_container() {
  tr '\0' '\n' 2>/dev/null < /proc/1/environ | sed -n "s/^$1=//p"
}

# The instance's own key, good for this instance alone. It is on no command line, here or below.
read_key() {
  key=${CONTAINER_API_KEY:-}
  [ -n "$key" ] || { [ -r "$here/key" ] && read -r key < "$here/key"; }
  [ -n "$key" ] || key=$(environment_of_container CONTAINER_API_KEY)
  case $key in *[!A-Za-z0-9._~+/=-]*) key='' ;; esac
}
