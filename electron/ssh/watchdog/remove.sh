# Ends the watchdog and leaves nothing of it, but for what its instance's start script has to know at the next start.
# Needs: instance.

end_it
end_elsewhere
unhook
rm -rf "$here"
[ -e "$here" ] || echo 'removed yes'
mkdir -p "$here" && : > "$here/removed"
