import type { RunMatch } from '#contract/automation/run.ts'
import { plainLastLine } from '#ssh/monitor/plain-output.ts'
import type { RunOutput } from './output.ts'

/** The most lines found, the characters shown of each, and how many of those come before the match. */
const bounds = { lines: 500, shown: 400, before: 120 }
/** Bytes read at a time, and the most bytes of one line that are searched. */
const block = 256 * 1024
const longestLine = 1024 * 1024

export interface FoundLines {
  matches: RunMatch[]
  total: number
}

/** The last lines of the stored output that contain a text, in any case; up to byte `before` if given. */
export async function searchOutput(output: RunOutput, text: string, before?: number): Promise<FoundLines> {
  const wanted = text.toLowerCase()
  const end = Math.min(before ?? output.next(), output.next())
  const found: FoundLines = { matches: [], total: 0 }
  let rest: Buffer = Buffer.alloc(0)
  let restAt = output.first()
  let line = 0

  function searchIn(bytes: Buffer, at: number): void {
    line += 1
    const shown = plainLastLine(bytes.toString('utf8'))
    const index = shown.toLowerCase().indexOf(wanted)
    if (index < 0) return
    found.total += 1
    found.matches.push({ line, at, text: excerpt(shown, index) })
    if (found.matches.length > 2 * bounds.lines) found.matches = found.matches.slice(-bounds.lines)
  }

  while (restAt + rest.length < end) {
    const from = restAt + rest.length
    const { at, bytes } = await output.read(from, Math.min(block, end - from))
    if (bytes.length === 0) break
    // The oldest output may have been deleted meanwhile.
    if (at > from) rest = Buffer.alloc(0)
    const all = Buffer.concat([rest, bytes])
    const allAt = at - rest.length
    let done = 0
    for (let feed = all.indexOf(10); feed >= 0; feed = all.indexOf(10, done)) {
      searchIn(all.subarray(done, feed), allAt + done)
      done = feed + 1
    }
    if (all.length - done > longestLine) {
      searchIn(all.subarray(done), allAt + done)
      done = all.length
    }
    rest = all.subarray(done)
    restAt = allAt + done
  }
  if (rest.length > 0) searchIn(rest, restAt)
  return { matches: found.matches.slice(-bounds.lines), total: found.total }
}

function excerpt(line: string, index: number): string {
  if (line.length <= bounds.shown) return line
  const from = Math.max(0, Math.min(index - bounds.before, line.length - bounds.shown))
  const to = from + bounds.shown
  return `${from > 0 ? '…' : ''}${line.slice(from, to)}${to < line.length ? '…' : ''}`
}
