import { setTimeout } from 'node:timers/promises'
import { absolute, type Call } from '../shell/command.ts'
import { readRegular } from '../shell/redirect.ts'
import { Interrupted } from '../shell/sink.ts'
import { eachSource, lineBatches } from './sources.ts'

/** Lines that `tail` keeps at most. */
const mostLines = 100_000
/** Milliseconds between two reads of a file that is followed. */
const followPause = 300

/** `head [-n LINES] [FILE…]` */
export async function head(call: Call): Promise<number> {
  const { lines, files } = lineCount(call.args)
  return eachSource(call, files, async pieces => {
    let left = lines
    for await (const batch of lineBatches(pieces)) {
      await call.out(batch.slice(0, left).join(''))
      left -= batch.length
      if (left <= 0) return
    }
  })
}

/** `tail [-n LINES] [-F] [FILE…]`; `-F` (or `-f`) also prints what is appended to the first file, until stopped. */
export async function tail(call: Call): Promise<number> {
  const { lines, files } = lineCount(call.args)
  let shown = 0
  const status = await eachSource(call, files, async pieces => {
    let kept: string[] = []
    for await (const batch of lineBatches(counted(pieces)))
      kept = kept.concat(batch).slice(-Math.min(lines, mostLines))
    if (lines > 0) await call.out(kept.join(''))
  })
  const [file] = files
  if (file !== undefined && call.args.some(arg => /^-[fF]$/.test(arg))) await follow(call, file, shown)
  return status

  async function* counted(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const piece of pieces) {
      shown += piece.length
      yield piece
    }
  }
}

/** Writes all beyond the first `shown` bytes of a file, which may be missing or start anew meanwhile. */
async function follow(call: Call, file: string, shown: number): Promise<void> {
  for (let from = shown; ; ) {
    await setTimeout(followPause, undefined, { signal: call.signal, ref: false }).catch(() => {
      throw new Interrupted()
    })
    let bytes: Buffer
    try {
      bytes = readRegular(call.shell.files, absolute(call.shell, file))
    } catch {
      from = 0
      continue
    }
    if (bytes.length < from) from = 0
    if (bytes.length > from) await call.out(bytes.subarray(from))
    from = bytes.length
  }
}

/** `wc [-l|-w|-c] [FILE…]` */
export async function wc(call: Call): Promise<number> {
  const chosen = call.args.filter(arg => arg.startsWith('-')).join('')
  const files = call.args.filter(arg => !arg.startsWith('-'))
  return eachSource(call, files, async (pieces, file) => {
    let [lines, words, bytes] = [0, 0, 0]
    for await (const batch of lineBatches(pieces)) {
      for (const line of batch) {
        if (line.endsWith('\n')) lines += 1
        words += line.match(/\S+/g)?.length ?? 0
        bytes += Buffer.byteLength(line)
      }
    }
    const counts = Object.entries({ l: lines, w: words, c: bytes })
      .filter(([flag]) => chosen === '' || chosen.includes(flag))
      .map(([, count]) => count)
    await call.out(`${[...counts, ...(file === undefined ? [] : [file])].join(' ')}\n`)
  })
}

/** `grep [-i] [-v] TEXT [FILE…]`: a plain text, not a pattern. */
export async function grep(call: Call): Promise<number> {
  const flags = call.args.filter(arg => /^-[ivF]+$/.test(arg)).join('')
  const [text, ...files] = call.args.filter(arg => !/^-[ivF]+$/.test(arg))
  if (text === undefined) {
    await call.err('usage: grep [-i] [-v] TEXT [FILE...]\n')
    return 2
  }
  const shape = (line: string) => (flags.includes('i') ? line.toLowerCase() : line)
  let found = false
  const status = await eachSource(call, files, async pieces => {
    for await (const batch of lineBatches(pieces)) {
      const matching = batch.filter(line => shape(line).includes(shape(text)) !== flags.includes('v'))
      found ||= matching.length > 0
      await call.out(matching.join(''))
    }
  })
  if (status !== 0) return 2
  return found ? 0 : 1
}

/** Reads `-n 5`, `-n5` or `-5`, by default ten lines; the other arguments are files. */
function lineCount(args: string[]): { lines: number; files: string[] } {
  const files: string[] = []
  let lines = 10
  let expected = false
  for (const arg of args) {
    const attached = /^-n?(\d+)$/.exec(arg)?.[1]
    if (expected) lines = Math.abs(Number(arg)) || 0
    else if (attached !== undefined) lines = Number(attached)
    else if (!arg.startsWith('-') || arg === '-') files.push(arg)
    expected = !expected && arg === '-n'
  }
  return { lines, files }
}
