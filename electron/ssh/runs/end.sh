# Asks the run’s command to end, and all that it has started.

# Without setsid, the run has no process group of its own. From the top, or a shell would go on with its next command.
end_tree() {
  set -- "$1" $(cat "/proc/$1/task/"*/children 2>/dev/null)
  kill -TERM "$1"
  shift
  for child; do end_tree "$child"; done
}

if is_going; then kill -TERM "-$pid" 2>/dev/null || end_tree "$pid"; fi
echo 'ended yes'
