# The shell of a terminal on the instance, with the variables that environment.sh takes, which are shown nowhere.

take_environment ''
shell=${SHELL:-/bin/sh}
case ${shell##*/} in bash) ;; *) exec "$shell" -l ;; esac
# As a login shell starts, but with the image's folders in PATH, which /etc/profile sets anew: they come before the first
# of the system's, after those that start files put in front.
BERTH_PATH=$PATH exec "$shell" --rcfile /dev/fd/9 9<< 'START'
exec 9<&-
[ -r /etc/profile ] && . /etc/profile
for berth_file in ~/.bash_profile ~/.bash_login ~/.profile; do
  [ -r "$berth_file" ] && { . "$berth_file"; break; }
done
case :$PATH: in *:"$BERTH_PATH":*) ;; *)
  berth_front=
  berth_rest=$PATH:
  while [ -n "$berth_rest" ]; do
    case :$BERTH_PATH: in *:"${berth_rest%%:*}":*) break ;; esac
    berth_front=$berth_front${berth_rest%%:*}:
    berth_rest=${berth_rest#*:}
  done
  PATH=$berth_front$BERTH_PATH${berth_rest:+:${berth_rest%:}}
esac
unset BERTH_PATH berth_file berth_front berth_rest
START
