/** Characters of a line; what is longer is cut. */
const longest = 65_536

/** Puts pieces of bytes together to lines of text. */
export function lineReader(onLine: (line: string) => void): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder()
  let rest = ''
  return bytes => {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = (lines.pop() ?? '').slice(0, longest)
    for (const line of lines) onLine(line)
  }
}
