import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import type { ClientChannel } from 'ssh2'
import type { Clock } from '#platform/platform.ts'
import { deferred } from '#platform/tasks.ts'
import { harmless } from '#shared/instance/file-names.ts'
import { BerthError } from '#shared/problem.ts'
import type { Connection } from './connection/connection.ts'
import { commandSilent, connectionLost, shellReplaced, whyEnded } from './connection/ssh-problems.ts'
import { quote } from './ssh-command.ts'

/** A command's output, cut to a limit, and its exit code: 127 if the shell does not know the command. */
export interface Output {
  text: string
  bytes: Buffer
  /** Undefined if the output was cut. */
  code: number | undefined
}

interface Bounds {
  clock: Clock
  /** Milliseconds for the command, from its begin on; the shell that begins it has `beginsWithin` of its own. */
  within: number
  /** The most bytes of output that are read; further output ends the command. */
  most: number
  /** The command's standard input, for texts that must not be on a command line. */
  input?: string
}

/**
 * Runs a command of Berth's on the instance and returns its output, without standard error.
 * Throws `shell_replaced`, `ssh_timeout`, `ssh_full` or `ssh_closed`.
 */
export async function outputOf(
  connection: Connection,
  command: string,
  { clock, within, most, input }: Bounds,
): Promise<Output> {
  const exec = await openExec(connection, clock, command)
  let cancel = () => {}
  try {
    // Programs that wait for input end instead, if no input will come.
    if (input === undefined) exec.channel.end()
    await exec.begun
    cancel = clock.after(within, () => exec.close(commandSilent(connection.address)))
    if (input !== undefined) exec.channel.end(input)
    const pieces: Buffer[] = []
    let length = 0
    for await (const chunk of exec.output) {
      pieces.push(chunk.subarray(0, most - length))
      length += chunk.length
      if (length >= most) break
    }
    const bytes = Buffer.concat(pieces)
    return { text: bytes.toString('utf8'), bytes, code: length < most ? await exec.ended : undefined }
  } finally {
    cancel()
    exec.close()
  }
}

/** A command of Berth's that runs on the instance. */
export interface Exec {
  /** For the command's input, once it has begun: before, another program may read it. */
  channel: ClientChannel
  /** The command's output alone, without that of the shell's start files. It stalls unless it is read. */
  output: Readable
  /** Resolves once the command runs. Rejects with `shell_replaced` or `ssh_closed`. */
  begun: Promise<void>
  /** Resolves with the exit code, once the output was read to its end. Rejects as `begun` does, or as it was closed. */
  ended: Promise<number>
  /** Ends it at once, since the other side may keep the channel open for as long as it likes. */
  close(why?: BerthError): void
}

/** Milliseconds for the instance's shell to begin a command: slow start files take some seconds. */
export const beginsWithin = 15_000
/** The most bytes that a shell's start files may print before a command. */
const longestGreeting = 16 * 1024 * 1024
/** The last bytes that aren't the command's output, which show why a shell ended. */
const lastBytes = 1024

/**
 * Starts a command of Berth's on the instance. The shell there may print a greeting first, or something at its end, so
 * the command's output stands between two marks, of which the second brings the exit code.
 * Throws `ssh_closed`, `ssh_full` or `ssh_timeout`.
 */
export function openExec(
  connection: Pick<Connection, 'client' | 'address' | 'answered' | 'lost' | 'hasEnded'>,
  clock: Clock,
  command: string,
): Promise<Exec> {
  const { client, address, answered } = connection
  const marks = newMarks()
  const request = new Promise<Exec>((resolve, reject) => {
    // Listens at once, since a short command's output may come in the same packet as its start.
    client.exec(marked(command, marks), (error, channel) =>
      error ? reject(error) : resolve(listen(channel, marks, connection, clock)),
    )
  })
  return answered(request, why => new BerthError(connectionLost(address, why)))
}

interface Marks {
  begin: [string, string]
  end: [string, string]
}

function newMarks(): Marks {
  const [one, two] = [randomBytes(12).toString('hex'), randomBytes(12).toString('hex')]
  return { begin: [one, two], end: [two, one] }
}

/**
 * The command between two commands that print the marks, in a form that every usual login shell passes on, and without
 * a whole mark in it: a shell may echo its input.
 */
function marked(command: string, { begin, end }: Marks): string {
  return `sh -c ${quote([`echo ${begin.join('""')}; ${command}; echo ${end.join('""')} $?`])}`
}

function listen(
  channel: ClientChannel,
  marks: Marks,
  connection: Pick<Connection, 'address' | 'lost' | 'hasEnded'>,
  clock: Clock,
): Exec {
  const { address } = connection
  const begun = deferred<void>()
  const ended = deferred<number>()
  const answer = answerBetween(marks)
  let printed: Buffer = Buffer.alloc(0)
  let exit: number | undefined
  let hasEnded = false

  const output = new Readable({
    read: () => void channel.resume(),
    destroy(error, done) {
      // Read to its end, or not wanted any more.
      if (!hasEnded) close()
      done(error)
    },
  })
  output.on('error', () => undefined) // `ended` rejects, too
  const replaced = () => shellReplaced(address, lastLine(printed) || lastLine(answer.greeting()), exit)
  const cancelBegin = clock.after(beginsWithin, () => fail(replaced()))

  function fail(why: Error): void {
    hasEnded = true
    cancelBegin()
    channel.close()
    begun.reject(why)
    ended.reject(why)
    output.destroy(why)
  }
  const close: Exec['close'] = (why = new BerthError(connectionLost(address, 'it was closed'))) => fail(why)

  channel.on('data', (chunk: Buffer) => {
    if (hasEnded) return
    const { bytes, begins, code } = answer.next(chunk)
    if (begins) {
      cancelBegin()
      begun.resolve(undefined)
    }
    if (answer.greetingLength() > longestGreeting) return fail(replaced())
    if (bytes.length > 0 && !output.push(bytes)) channel.pause()
    if (code === undefined) return
    // Background programs of the shell may keep the channel open.
    hasEnded = true
    channel.close()
    output.once('end', () => ended.resolve(code))
    output.push(null)
  })
  channel.stderr.on('data', (chunk: Buffer) => {
    printed = Buffer.concat([printed, chunk]).subarray(-lastBytes)
  })
  channel.on('error', () => undefined) // `close` follows
  channel.on('exit', (status: number | null) => {
    exit = status ?? undefined
  })
  channel.once('close', async () => {
    const why = await whyEnded(connection)
    if (hasEnded) return
    const isReplaced = exit !== undefined && !answer.hasBegun()
    fail(why ?? (isReplaced ? replaced() : new BerthError(connectionLost(address, 'it ended unexpectedly'))))
  })
  return { channel, output, begun: begun.promise, ended: ended.promise, close }
}

/** Finds a command's output, and its exit code, in all that a shell prints. */
function answerBetween(marks: Marks) {
  const begin = Buffer.from(`${marks.begin.join('')}\n`)
  const end = Buffer.from(`${marks.end.join('')} `)
  let before = 0
  let begun = false
  /** Bytes that may be the start of a mark. */
  let pending: Buffer = Buffer.alloc(0)

  return {
    hasBegun: () => begun,
    /** The bytes before the first mark, and the last of them. */
    greetingLength: () => before,
    greeting: () => pending,
    /** Takes the next bytes. `bytes`: the output in it; `code`: the exit code, after which nothing counts. */
    next(chunk: Buffer): { bytes: Buffer; begins?: boolean; code?: number } {
      let bytes = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
      let begins = false
      if (!begun) {
        const at = bytes.indexOf(begin)
        if (at < 0) {
          before += chunk.length
          pending = bytes.subarray(-lastBytes)
          return { bytes: Buffer.alloc(0) }
        }
        begins = begun = true
        bytes = bytes.subarray(at + begin.length)
      }
      const at = bytes.indexOf(end)
      if (at >= 0) {
        const code = /^(\d{1,3})\n/.exec(bytes.toString('latin1', at + end.length, at + end.length + 4))
        pending = bytes.subarray(at)
        return { bytes: bytes.subarray(0, at), begins, code: code ? Number(code[1]) : undefined }
      }
      const markLength = startsAtEnd(bytes, end)
      pending = bytes.subarray(bytes.length - markLength)
      return { bytes: bytes.subarray(0, bytes.length - markLength), begins }
    },
  }
}

/** How many of the last bytes may be the start of a mark. */
function startsAtEnd(bytes: Buffer, mark: Buffer): number {
  const most = Math.min(mark.length - 1, bytes.length)
  const first = bytes.indexOf(mark.subarray(0, 1), bytes.length - most)
  for (let at = first; at >= 0; at = bytes.indexOf(mark.subarray(0, 1), at + 1))
    if (mark.subarray(0, bytes.length - at).equals(bytes.subarray(at))) return bytes.length - at
  return 0
}

/** The last line with text in it, harmless and at most 200 characters. */
export function lastLine(bytes: Buffer): string {
  const lines = bytes.toString('utf8').split('\n')
  return harmless(
    lines
      .findLast(line => line.trim() !== '')
      ?.trim()
      .slice(0, 200) ?? '',
  )
}

/**
 * Runs parts of a shell script on the instance with these variables set, as one compound command, which the shell reads
 * whole before it begins. All of it goes over standard input, nothing on a command line. Throws as `outputOf` does, and
 * `ssh_closed` for a script that was killed, as when its container stops.
 */
export async function runScript(
  connection: Connection,
  values: Readonly<Record<string, string>>,
  parts: readonly string[],
  bounds: Omit<Parameters<typeof outputOf>[2], 'input'>,
): Promise<Output> {
  const assigned = Object.entries(values).map(([name, value]) => `${name}=${shellQuoted(value)}`)
  const input = ['{', ...assigned, ...parts, '} < /dev/null', ''].join('\n')
  const output = await outputOf(connection, 'sh -s', { ...bounds, input })
  refuseKilled(connection, output.code)
  return output
}

/** Throws `ssh_closed` for the exit code of a script that a signal ended, so its output may be half. */
export function refuseKilled({ address }: Pick<Connection, 'address'>, code: number | undefined): void {
  if (code !== undefined && code > 128) throw new BerthError(connectionLost(address, 'it ended unexpectedly'))
}

/** Quotes a text as one word of a POSIX shell. */
export function shellQuoted(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`
}
