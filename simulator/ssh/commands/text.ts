import type { Call } from '../shell/command.ts'
import { eachSource } from './sources.ts'

/** Bytes per write of commands with much output. */
const pieceSize = 16 * 1024

/** `echo [-n] [-e] WORD…` */
export async function echo({ args, out }: Call): Promise<number> {
  const flags = args.findIndex(arg => !/^-[neE]+$/.test(arg))
  const options = args.slice(0, flags < 0 ? args.length : flags).join('')
  const text = args.slice(flags < 0 ? args.length : flags).join(' ')
  const shown = options.includes('e') ? escaped(text) : text
  await out(options.includes('n') ? shown : `${shown}\n`)
  return 0
}

/** `printf FORMAT [WORD…]`, of `%s` alone. */
export async function printf({ args, out }: Call): Promise<number> {
  const [format = '', ...words] = args
  await out(escaped(format).replaceAll('%s', () => words.shift() ?? ''))
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

/** `cat [FILE…]`; without a file, its input as it arrives. */
export async function cat(call: Call): Promise<number> {
  return eachSource(call, call.args, async pieces => {
    for await (const piece of pieces) await call.out(piece)
  })
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

/** `yes [WORD…]`, until stopped. */
export async function yes({ args, out }: Call): Promise<number> {
  const line = `${args.length === 0 ? 'y' : args.join(' ')}\n`
  const piece = line.repeat(Math.max(1, Math.floor(pieceSize / line.length)))
  for (;;) await out(piece)
}
