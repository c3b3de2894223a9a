/** Characters kept of a line that has not ended yet. */
const longest = 65_536

/** Assembles chunks of bytes into lines of text. */
export function lineReader(onLine: (line: string) => void): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder()
  let rest = ''
  return bytes => {
    const [first = '', ...others] = decoder.decode(bytes, { stream: true }).split('\n')
    const lines = [rest + first.slice(0, longest - rest.length), ...others]
    rest = (lines.pop() ?? '').slice(0, longest)
    for (const line of lines) onLine(line)
  }
}
