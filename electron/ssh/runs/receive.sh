# Lets another machine put results into `side`, a folder of this one: with the public key `key`, which can do nothing else, for
# an hour at most. Prints `receives`.

umask 077
cat > "$side/receive.sh" <<'RECEIVE'
# The words of the other machine: the number of a result.
case $SSH_ORIGINAL_COMMAND in
  '' | *[!0-9]*) exit 1 ;;
esac
cd "$1/$SSH_ORIGINAL_COMMAND" && exec tar -xf -
RECEIVE
mkdir -p "${HOME:-/root}/.ssh"
keys=${HOME:-/root}/.ssh/authorized_keys
# The last line may lack its end.
[ ! -s "$keys" ] || [ -z "$(tail -c 1 "$keys")" ] || echo >> "$keys"
printf 'restrict,command="sh %s/receive.sh %s" %s\n' "$side" "$side" "$key" >> "$keys"
# Whatever becomes of Berth. Without that script the key is of no use.
(sleep 3600 && rm -f "$side/receive.sh") < /dev/null > /dev/null 2>&1 &
echo receives
