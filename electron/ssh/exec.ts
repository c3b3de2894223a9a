import type { ClientChannel } from 'ssh2'
import { BerthError } from '../contract/problem.ts'
import type { Clock } from '../ports/clock.ts'
import type { Connection } from './connection.ts'
import { connectionLost, reasonOf, timedOut } from './ssh-problems.ts'

/** What a command printed, cut to a limit, and how it ended: 127 where the shell does not know it. */
export interface Output {
  text: string
  code: number | undefined
}

interface Bounds {
  clock: Clock
  /** Milliseconds. */
  within: number
  /** Bytes of what it prints that are read; what comes after ends the command. */
  most: number
}

/**
 * Runs one command of Berth's own on the instance and gives what it prints; what it says of errors is left out.
 * Throws `ssh_timeout` or `ssh_closed`.
 */
export async function outputOf(
  { client, address }: Connection,
  command: string,
  { clock, within, most }: Bounds,
): Promise<Output> {
  const channel = await openExec({ client, address }, command)
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = []
    let length = 0
    let code: number | undefined
    const cancel = clock.after(within, () => {
      channel.close()
      reject(timedOut(address))
    })
    channel.stderr.resume()
    channel.on('error', () => undefined) // told by its close
    channel.on('exit', (status: number | null) => {
      code = status ?? undefined
    })
    channel.on('data', (chunk: Buffer) => {
      if (length < most) pieces.push(chunk.subarray(0, most - length))
      length += chunk.length
      if (length >= most) channel.close()
    })
    channel.once('close', () => {
      cancel()
      resolve({ text: Buffer.concat(pieces).toString('utf8'), code })
    })
  })
}

/** A command of Berth's own on the instance, as its channel. Throws `ssh_closed`. */
export function openExec(
  { client, address }: Pick<Connection, 'client' | 'address'>,
  command: string,
): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    const refuse = (error: unknown) => reject(new BerthError(connectionLost(address, reasonOf(error))))
    try {
      client.exec(command, (error, channel) => (error ? refuse(error) : resolve(channel)))
    } catch (error) {
      refuse(error)
    }
  })
}
