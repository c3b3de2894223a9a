# Asks the run’s command to end, and all that it has started.

if is_going; then kill -TERM "-$pid" 2>/dev/null || kill -TERM "$pid"; fi
echo 'ended yes'
