import type { ClientChannel } from 'ssh2'
import { BerthError } from '../contract/problem.ts'
import type { Clock } from '../ports/clock.ts'
import type { Connection } from './connection/connection.ts'
import { connectionLost, timedOut, whyEnded } from './connection/ssh-problems.ts'

/** A command's output, cut to a limit, and its exit code: 127 if the shell does not know the command. */
export interface Output {
  text: string
  bytes: Buffer
  code: number | undefined
}

interface Bounds {
  clock: Clock
  /** Milliseconds. */
  within: number
  /** The most bytes of output that are read; further output ends the command. */
  most: number
  /** The command's standard input, for texts that must not be on a command line. */
  input?: string
}

/**
 * Runs a command of Berth's on the instance and returns its output, without standard error.
 * Throws `ssh_timeout`, `ssh_full` or `ssh_closed`.
 */
export async function outputOf(connection: Connection, command: string, bounds: Bounds): Promise<Output> {
  const collecting = await openExec(connection, command, channel => collect(channel, connection, bounds))
  return collecting()
}

/** Collects a channel's output at once; the returned function waits for its end. */
function collect(
  channel: ClientChannel,
  connection: Connection,
  { clock, within, most, input }: Bounds,
): () => Promise<Output> {
  const output = new Promise<Output>((resolve, reject) => {
    const pieces: Buffer[] = []
    let length = 0
    let code: number | undefined
    let finished = false
    const finish = () => {
      if (finished) return
      finished = true
      cancel()
      const bytes = Buffer.concat(pieces)
      resolve({ text: bytes.toString('utf8'), bytes, code })
    }
    const cancel = clock.after(within, () => {
      channel.close()
      reject(timedOut(connection.address))
    })
    channel.stderr.resume()
    channel.on('error', () => undefined) // `close` follows
    channel.on('exit', (status: number | null) => {
      code = status ?? undefined
    })
    channel.on('data', (chunk: Buffer) => {
      if (length >= most) return
      pieces.push(chunk.subarray(0, most - length))
      length += chunk.length
      if (length < most) return
      channel.close()
      // The command may not exit, and would keep its side of the channel open.
      finish()
    })
    channel.once('close', async () => {
      const why = await whyEnded(connection)
      if (!why) return finish()
      // What came until then may be half an answer.
      cancel()
      reject(why)
    })
    if (input !== undefined) channel.end(input)
  })
  return () => output
}

/**
 * Starts a command of Berth's on the instance. `use` gets its channel at once, since a short command's exit code may
 * come in the same packet as its start. Throws `ssh_closed`, `ssh_full` or `ssh_timeout`.
 */
export function openExec<Used>(
  { client, address, answered }: Pick<Connection, 'client' | 'address' | 'answered'>,
  command: string,
  use: (channel: ClientChannel) => Used,
): Promise<Used> {
  const request = new Promise<Used>((resolve, reject) => {
    client.exec(command, (error, channel) => (error ? reject(error) : resolve(use(channel))))
  })
  return answered(request, why => new BerthError(connectionLost(address, why)))
}
