import { reason } from '../files/file-error.ts'
import { absolute, type Call } from '../shell/command.ts'
import { readRegular } from '../shell/redirect.ts'

/** Bytes written at once by commands that write much. */
const pieceSize = 16 * 1024
/** Bytes a command keeps of its input. */
const largestInput = 64 * 1024 * 1024

/** `echo [-n] [-e] WORD…` */
export async function echo({ args, out }: Call): Promise<number> {
  const flags = args.findIndex(arg => !/^-[neE]+$/.test(arg))
  const options = args.slice(0, flags < 0 ? args.length : flags).join('')
  const text = args.slice(flags < 0 ? args.length : flags).join(' ')
  const shown = options.includes('e') ? escaped(text) : text
  await out(options.includes('n') ? shown : `${shown}\n`)
  return 0
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', e: '\x1b', a: '\x07', '\\': '\\' }

function escaped(text: string): string {
  return text.replace(/\\(0[0-7]{1,3}|x[0-9a-fA-F]{1,2}|[ntrea\\])/g, (_, code: string) => {
    if (code.startsWith('0')) return String.fromCharCode(Number.parseInt(code, 8))
    if (code.startsWith('x')) return String.fromCharCode(Number.parseInt(code.slice(1), 16))
    return escapes[code] ?? code
  })
}

/** `cat [FILE…]`; without a file, its input as it comes. */
export async function cat(call: Call): Promise<number> {
  const { args, out, input, signal } = call
  if (args.length === 0 || args[0] === '-') {
    if (input === undefined) return 0
    for await (const piece of input.iterator({ destroyOnReturn: false })) {
      signal.throwIfAborted()
      await out(piece)
    }
    return 0
  }
  return eachFile(call, args, async bytes => {
    for (let from = 0; from < bytes.length; from += pieceSize)
      await out(bytes.subarray(from, from + pieceSize))
  })
}

/** `head [-n LINES] [FILE…]` */
export async function head(call: Call): Promise<number> {
  const { lines, files } = lineCount(call.args)
  return eachFile(call, files, async bytes => {
    await call.out(linesOf(bytes).slice(0, lines).join(''))
  })
}

/** `tail [-n LINES] [FILE…]` */
export async function tail(call: Call): Promise<number> {
  const { lines, files } = lineCount(call.args)
  return eachFile(call, files, async bytes => {
    if (lines > 0) await call.out(linesOf(bytes).slice(-lines).join(''))
  })
}

/** `wc [-l|-w|-c] [FILE…]` */
export async function wc(call: Call): Promise<number> {
  const chosen = call.args.filter(arg => arg.startsWith('-')).join('')
  const files = call.args.filter(arg => !arg.startsWith('-'))
  return eachFile(call, files, async (bytes, file) => {
    const text = bytes.toString()
    const counts = [
      { flag: 'l', count: text.split('\n').length - 1 },
      { flag: 'w', count: text.split(/\s+/).filter(word => word !== '').length },
      { flag: 'c', count: bytes.length },
    ].filter(({ flag }) => chosen === '' || chosen.includes(flag))
    await call.out(
      `${[...counts.map(({ count }) => count), ...(file === undefined ? [] : [file])].join(' ')}\n`,
    )
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
  const ignoreCase = flags.includes('i')
  const sought = ignoreCase ? text.toLowerCase() : text
  let found = false
  const status = await eachFile(call, files, async bytes => {
    for (const line of linesOf(bytes)) {
      if ((ignoreCase ? line.toLowerCase() : line).includes(sought) === flags.includes('v')) continue
      found = true
      await call.out(line)
    }
  })
  return status === 0 ? (found ? 0 : 1) : 2
}

/** `seq [FIRST [STEP]] LAST` */
export async function seq({ args, out, err }: Call): Promise<number> {
  const numbers = args.map(Number)
  const last = numbers.at(-1)
  const first = numbers.length > 1 ? (numbers[0] ?? 1) : 1
  const step = numbers.length > 2 ? (numbers[1] ?? 1) : 1
  if (
    last === undefined ||
    numbers.length > 3 ||
    numbers.some(number => !Number.isSafeInteger(number)) ||
    step === 0
  ) {
    await err('seq: usage: seq [FIRST [STEP]] LAST, whole numbers\n')
    return 1
  }
  let piece = ''
  for (let number = first; step > 0 ? number <= last : number >= last; number += step) {
    piece += `${number}\n`
    if (piece.length >= pieceSize) {
      await out(piece)
      piece = ''
    }
  }
  if (piece !== '') await out(piece)
  return 0
}

/** `yes [WORD…]`, until it is stopped. */
export async function yes({ args, out }: Call): Promise<number> {
  const line = `${args.length === 0 ? 'y' : args.join(' ')}\n`
  const piece = line.repeat(Math.max(1, Math.floor(pieceSize / line.length)))
  for (;;) await out(piece)
}

function lineCount(args: string[]): { lines: number; files: string[] } {
  const files: string[] = []
  let lines = 10
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index] ?? ''
    const attached = /^-n?(\d+)$/.exec(arg)?.[1]
    if (attached !== undefined) lines = Number(attached)
    else if (arg === '-n') {
      index += 1
      lines = Math.abs(Number(args[index])) || 0
    } else if (!arg.startsWith('-')) files.push(arg)
  }
  return { lines, files }
}

function linesOf(bytes: Buffer): string[] {
  return bytes.toString().match(/[^\n]*\n|[^\n]+/g) ?? []
}

/** Calls `use` with each file's bytes, or with the input's where no file is named. Says which could not be read. */
async function eachFile(
  call: Call,
  files: string[],
  use: (bytes: Buffer, file: string | undefined) => Promise<void>,
): Promise<number> {
  if (files.length === 0) {
    await use(await wholeInput(call), undefined)
    return 0
  }
  let status = 0
  for (const file of files) {
    let bytes: Buffer
    try {
      bytes = readRegular(call.shell.files, absolute(call.shell, file))
    } catch (error) {
      await call.err(`${call.name}: ${file}: ${reason(error)}\n`)
      status = 1
      continue
    }
    await use(bytes, file)
  }
  return status
}

async function wholeInput({ input, signal }: Call): Promise<Buffer> {
  const pieces: Buffer[] = []
  let size = 0
  if (input === undefined) return Buffer.alloc(0)
  for await (const piece of input.iterator({ destroyOnReturn: false })) {
    signal.throwIfAborted()
    pieces.push(Buffer.from(piece))
    size += piece.length
    if (size > largestInput) break
  }
  return Buffer.concat(pieces)
}
