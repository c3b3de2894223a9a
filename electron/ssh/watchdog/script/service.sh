# The watchdog: asking the service, with whichever of curl, wget and python3 is there.

# Seconds for an answer.
within=30

find_tools() {
  tools=
  command -v curl > /dev/null 2>&1 && tools="$tools curl"
  # busybox has a wget that can neither PUT nor DELETE.
  case $(wget --version 2>/dev/null) in *'GNU Wget'*) tools="$tools wget" ;; esac
  command -v python3 > /dev/null 2>&1 && tools="$tools python3"
}

# The tools take turns, so that one that does not work here does not keep it from working.
next_tool() {
  # shellcheck disable=SC2086
  set -- $tools
  tool=${1:-}
  [ $# -gt 1 ] && shift && tools="$* $tool"
}

with_curl() {
  printf 'header = "Authorization: Bearer %s"\n' "$key" |
    curl -q -sS -m "$within" -K - -D - -o - -X "$1" -H 'Content-Type: application/json' ${3:+-d "$3"} "$url$2" 2>&1
}

# It reads its configuration from files alone, so the key lies in one for as long as that takes.
with_wget() {
  wgetrc=$here/wgetrc.$$
  printf 'header = Authorization: Bearer %s\n' "$key" > "$wgetrc"
  HOME=$here wget --config="$wgetrc" -nv -S -O - --content-on-error --tries=1 --timeout="$within" --max-redirect=0 \
    --method="$1" --header='Content-Type: application/json' ${3:+--body-data="$3"} "$url$2" 2>&1
  rm -f "$wgetrc"
}

with_python3() {
  printf '%s\n' "$key" | python3 -c '
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen
method, url, body, within = sys.argv[1:5]
headers = {"Authorization": "Bearer " + sys.stdin.readline().strip(), "Content-Type": "application/json"}
request = Request(url, method=method, headers=headers, data=body.encode() or None)
try:
    answer = urlopen(request, timeout=int(within))
except HTTPError as refusal:
    answer = refusal
print("HTTP/1.1", answer.status if hasattr(answer, "status") else answer.code)
print("Date:", answer.headers.get("Date", ""))
print()
print(answer.read(65536).decode("utf-8", "replace"))
' "$1" "$url$2" "${3:-}" "$within" 2>/dev/null
}

# Asks the service: method, path, body. Sets `status` (empty without an answer), `date`, as its header has it, `agreed` where
# it did what was asked, and `unknown_key` where it doesn't know the key: it may say that with 404.
ask() {
  status='' date='' agreed='' unknown_key=''
  next_tool
  [ -n "$tool" ] || return 1
  answer=$("with_$tool" "$@")
  while IFS= read -r line; do
    # wget indents what the server said.
    line=${line#"${line%%[! ]*}"}
    case $line in
      HTTP/*) status=${line#* } status=${status%%[!0-9]*} ;;
      [Dd]ate:*) date=${line#*: } ;;
      *'"success":true'* | *'"success": true'*) agreed=1 ;;
      *'"auth_error"'*) unknown_key=1 ;;
      # What came before was a proxy's, which led no further.
      'curl: ('*) [ -n "$agreed" ] || status='' ;;
    esac
  done << ANSWER
$answer
ANSWER
  [ -n "$status" ]
}
