import type { RunPage, RunPlace } from '#contract/automation/run.ts'
import { openEscape, plainOutput } from '#ssh/monitor/plain-output.ts'
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
