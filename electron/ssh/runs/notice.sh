# Tells the run's command that its machine is about to be stopped, once, and how that stands. One that had its time in the
# last five minutes is not told again.

up=
read -r up _ 2>/dev/null < /proc/uptime
up=${up%%.*}
stopped=
read -r stopped 2>/dev/null < "$here/stopped"
case $stopped in '' | *[!0-9]*) stopped=-300 ;; esac
told=
read -r told 2>/dev/null < "$here/stopping"
case $told in '' | *[!0-9]*) told=-300 ;; esac
around=
read -r around 2>/dev/null < "$here/around"
if [ ! -f "$here/before_stop" ] || ! is_going; then
  echo 'notice over'
elif [ $((up - stopped)) -lt 300 ]; then
  rm -f "$here/stopping"
  echo 'notice over'
else
  if [ $((up - told)) -ge 300 ]; then
    echo "$up" > "$here/stopping"
    kill -USR2 "$around" 2>/dev/null
  fi
  echo 'notice going'
fi
