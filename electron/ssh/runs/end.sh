# Asks the run’s command to end, and all that it has started.

# Without setsid, the run has no process group of its own.
end_tree() {
  for child in $(cat "/proc/$1/task/"*/children 2>/dev/null); do end_tree "$child"; done
  kill -TERM "$1"
}

if is_going; then kill -TERM "-$pid" 2>/dev/null || end_tree "$pid"; fi
echo 'ended yes'
