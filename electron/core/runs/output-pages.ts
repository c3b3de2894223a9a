import { Duplex } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import type { RunMatch, RunPage, RunPlace } from '#shared/automation/run.ts'
import { openEscape, plainLastLine, plainOutput } from '#ssh/monitor/plain-output.ts'
import type { RunOutput } from './output.ts'

/** Lines of a page, how many of them come before the requested byte, and the most bytes read for a page. */
const bounds = { lines: 1000, before: 20, bytes: 1024 * 1024 }
/** Bytes read at a time. */
const block = 64 * 1024

const lineFeed = 10
const carriageReturn = 13

/** A page of the stored output. It starts and ends at line ends, unless a line is longer than a page may be. */
export async function pageOf(output: RunOutput, place: RunPlace): Promise<RunPage> {
  if ('before' in place) return pageBefore(output, place.before)
  if ('from' in place) return pageFrom(output, place.from)
  const { from } = await pageBefore(output, place.around, bounds.before)
  return pageFrom(output, from)
}

async function pageBefore(output: RunOutput, end: number, lines = bounds.lines): Promise<RunPage> {
  const first = output.first()
  const to = Math.min(Math.max(end, first), output.next())
  let bytes: Buffer = Buffer.alloc(0)
  while (to - bytes.length > first && bytes.length < bounds.bytes && count(bytes) <= lines) {
    const from = Math.max(first, to - bytes.length - block)
    const { bytes: earlier } = await output.read(from, to - bytes.length - from)
    bytes = Buffer.concat([earlier, bytes])
  }
  const from = to - bytes.length
  const cut = lineBack(bytes, lines) ?? (from === first ? wholeFrom(bytes) : firstBreak(bytes))
  return page(output, from + cut, bytes.subarray(cut))
}

async function pageFrom(output: RunOutput, start: number): Promise<RunPage> {
  const from = Math.min(Math.max(start, output.first()), output.next())
  let bytes: Buffer = Buffer.alloc(0)
  let ended = false
  while (!ended && bytes.length < bounds.bytes && count(bytes) < bounds.lines) {
    const { bytes: more } = await output.read(from + bytes.length, block)
    ended = more.length === 0
    bytes = Buffer.concat([bytes, more])
  }
  const cut = lineOn(bytes, bounds.lines) ?? (ended ? completeUpTo(bytes) : lastBreak(bytes))
  return page(output, from, bytes.subarray(0, cut))
}

function page(output: RunOutput, from: number, bytes: Buffer): RunPage {
  return {
    from,
    to: from + bytes.length,
    first: output.first(),
    end: output.next(),
    text: plainOutput(bytes.toString('utf8')),
  }
}

function count(bytes: Buffer): number {
  let lines = 0
  for (const byte of bytes) if (byte === lineFeed) lines += 1
  return lines
}

/** Where the last `lines` lines begin; undefined if there are fewer. */
function lineBack(bytes: Buffer, lines: number): number | undefined {
  let left = lines
  for (let at = bytes.length - 2; at >= 0; at -= 1) {
    if (bytes[at] !== lineFeed) continue
    left -= 1
    if (left === 0) return at + 1
  }
  return undefined
}

/** Where the first `lines` lines end; undefined if there are fewer. */
function lineOn(bytes: Buffer, lines: number): number | undefined {
  let left = lines
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] !== lineFeed) continue
    left -= 1
    if (left === 0) return at + 1
  }
  return undefined
}

/** Just after the first line end or carriage return; without one, at the first whole character. */
function firstBreak(bytes: Buffer): number {
  const at = bytes.findIndex(byte => byte === lineFeed || byte === carriageReturn)
  return at >= 0 ? at + 1 : wholeFrom(bytes)
}

function lastBreak(bytes: Buffer): number {
  const at = bytes.findLastIndex(byte => byte === lineFeed || byte === carriageReturn)
  return at >= 0 ? at + 1 : wholeUpTo(bytes)
}

/** Before an unfinished character or escape sequence at the end. */
function completeUpTo(bytes: Buffer): number {
  const whole = wholeUpTo(bytes)
  const cut = openEscape(bytes.toString('latin1', 0, whole))
  return cut < 0 ? whole : cut
}

/** After the bytes of a character whose first byte is missing. */
function wholeFrom(bytes: Buffer): number {
  const at = bytes.findIndex(byte => (byte & 0xc0) !== 0x80)
  return at >= 0 && at < 4 ? at : 0
}

/** Before a character that continues beyond the end. */
function wholeUpTo(bytes: Buffer): number {
  const at = bytes.findLastIndex(byte => (byte & 0xc0) !== 0x80)
  const first = bytes[at] ?? 0
  const length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1
  return at >= bytes.length - 4 && at + length > bytes.length ? at : bytes.length
}

/** The most lines found, the characters shown of each, and how many of those come before the match. */
const searched = { lines: 500, shown: 400, before: 120 }
/** Bytes searched at a time, and the most bytes of one line that are searched. */
const searchedBlock = 256 * 1024
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
    if (found.matches.length > 2 * searched.lines) found.matches = found.matches.slice(-searched.lines)
  }

  while (restAt + rest.length < end) {
    const from = restAt + rest.length
    const { at, bytes } = await output.read(from, Math.min(searchedBlock, end - from))
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
  return { matches: found.matches.slice(-searched.lines), total: found.total }
}

function excerpt(line: string, index: number): string {
  if (line.length <= searched.shown) return line
  const from = Math.max(0, Math.min(index - searched.before, line.length - searched.shown))
  const to = from + searched.shown
  return `${from > 0 ? '…' : ''}${line.slice(from, to)}${to < line.length ? '…' : ''}`
}

/** Stored output from a byte on, as plain text with cursor movements, followed by additions while it is read. */
export function outputStream(output: RunOutput, from: number): Duplex {
  const decoder = new StringDecoder('utf8')
  let at = from
  /** The beginning of an unfinished escape sequence. */
  let open = ''
  let wanted = false
  let reading = false
  const stop = output.onAppend(() => void give())

  const stream: Duplex = new Duplex({
    read() {
      wanted = true
      void give()
    },
    // The page sends nothing.
    write: (_chunk, _encoding, done) => done(),
    destroy(error, done) {
      stop()
      done(error)
    },
  })

  /** Reads until there is text to deliver, or all was delivered. */
  async function give(): Promise<void> {
    if (reading || !wanted) return
    reading = true
    try {
      while (wanted && !stream.destroyed) {
        const piece = await output.read(at, block)
        if (piece.bytes.length === 0) break
        at = piece.at + piece.bytes.length
        const text = open + decoder.write(piece.bytes)
        const cut = openEscape(text)
        open = cut < 0 ? '' : text.slice(cut)
        const plain = plainOutput(cut < 0 ? text : text.slice(0, cut))
        if (plain === '') continue
        wanted = false
        stream.push(plain)
      }
    } catch (error) {
      stream.destroy(error instanceof Error ? error : new Error('the output could not be read'))
    } finally {
      reading = false
    }
    // An addition while the end was being read called nobody.
    if (wanted && at < output.next() && !stream.destroyed) void give()
  }
  return stream
}
