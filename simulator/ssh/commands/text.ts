import { setTimeout } from 'node:timers/promises'
import { reason } from '../files/scratch.ts'
import type { Machine } from '../machine.ts'
import { absolute, type Call } from '../shell/command.ts'
import { Interrupted, readRegular } from '../shell/sink.ts'

/** Bytes per write of commands with much output. */
const pieceSize = 16 * 1024
/** Milliseconds between two reads of a file that is followed. */
const followPause = 300

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
  const { args, input, signal, out } = call
  let status = 0
  for (const file of args.length === 0 ? ['-'] : args) {
    if (file === '-') {
      for await (const piece of input?.iterator({ destroyOnReturn: false }) ?? []) {
        signal.throwIfAborted()
        await out(piece)
      }
      continue
    }
    const bytes = await fileBytes(call, file)
    if (bytes === undefined) status = 1
    else
      for (let from = 0; from < bytes.length; from += pieceSize)
        await out(bytes.subarray(from, from + pieceSize))
  }
  return status
}

/** `tail [-n LINES] [-F] FILE`; `-F` (or `-f`) also prints what is appended to the file, until stopped. */
export async function tail(call: Call): Promise<number> {
  const counted = call.args.indexOf('-n') + 1
  const file = call.args.find((arg, index) => !arg.startsWith('-') && (counted === 0 || index !== counted))
  if (file === undefined) {
    await call.err('tail: only files can be read here\n')
    return 1
  }
  const bytes = await fileBytes(call, file)
  const lines = bytes?.toString('utf8').split(/(?<=\n)/) ?? []
  const wanted = counted === 0 ? 10 : Number(call.args[counted]) || 0
  if (wanted > 0) await call.out(lines.slice(-wanted).join(''))
  if (call.args.some(arg => /^-[fF]$/.test(arg))) await follow(call, file, bytes?.length ?? 0)
  return bytes ? 0 : 1
}

/** Writes all beyond the first `shown` bytes of a file, which may be missing or start again meanwhile. */
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

/** A file's bytes; undefined, with an error printed, where it cannot be read. */
async function fileBytes({ name, shell, err }: Call, file: string): Promise<Buffer | undefined> {
  if (file === '/proc/1/environ') {
    const variables = Object.entries(shell.machine.environment)
    return Buffer.from(variables.map(([variable, value]) => `${variable}=${value}\0`).join(''))
  }
  if (file === '/proc/net/dev') return Buffer.from(networkCounters(shell.machine))
  try {
    return readRegular(shell.files, absolute(shell, file))
  } catch (error) {
    await err(`${name}: ${file}: ${reason(error)}\n`)
    return undefined
  }
}

/** `/proc/net/dev` of a container with one interface. */
function networkCounters({ moved }: Machine): string {
  const { received, sent } = moved()
  const columns = (bytes: number, others: number) =>
    `${bytes} ${Math.ceil(bytes / 1400)}${' 0'.repeat(others)}`
  return [
    'Inter-|   Receive                                                |  Transmit',
    ' face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed',
    `    lo: ${columns(0, 6)} ${columns(0, 6)}`,
    `  eth0: ${columns(received, 6)} ${columns(sent, 6)}`,
    '',
  ].join('\n')
}
