#!/bin/sh
# The image's and the rental's variables, which SSH does not pass on: from the container's first process, and else those
# that Berth knows. What this session has itself stays, and what is no variable is left out: an SSH server that is the
# first process writes its title over them.
take_environment() {
  set -f
  while IFS= read -r berth_entry; do
    berth_name=${berth_entry%%=*}
    case $berth_entry in *=*) ;; *) continue ;; esac
    case $berth_name in '' | [0-9]* | *[!A-Za-z0-9_]*) continue ;; esac
    case $berth_name in SSH_* | TERM | OLDPWD | SHLVL | _) continue ;; esac
    berth_value=${berth_entry#*=}
    case $berth_value in
      *"$line_end"*)
        berth_value=$(printf '%s.' "$berth_value" | tr '\001' '\n')
        berth_value=${berth_value%.}
        ;;
    esac
    if [ "$berth_name" = PATH ]; then
      take_path "$berth_value"
    elif eval "[ -z \"\${$berth_name+set}\" ]"; then
      export "$berth_name=$berth_value"
    fi
  done << ENVIRONMENT
$(tr '\0\n' '\n\001' 2>/dev/null < /proc/1/environ)
$1
ENVIRONMENT
  set +f
}
line_end=$(printf '\001')

# The image's folders first, then those that this session alone has.
take_path() {
  case $1 in /*) ;; *) return ;; esac
  berth_path=$1
  IFS=:
  for berth_folder in $PATH; do
    case :$berth_path: in *:"$berth_folder":*) ;; *) berth_path=$berth_path:$berth_folder ;; esac
  done
  unset IFS
  PATH=$berth_path
  export PATH
}
