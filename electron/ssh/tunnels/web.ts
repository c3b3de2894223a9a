import { request } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Clock } from '../../ports/clock.ts'
import { overTls, PortRefused } from './channel.ts'

/** The kind of server at a port inside an instance. */
export type Answering = 'nothing' | 'http' | 'https' | 'other'

/** Milliseconds for a server to answer. */
const patience = 10_000

/** Finds out the kind of server behind a port: tries HTTP, then TLS. Throws if the connection is lost. */
export async function whatAnswers(dial: () => Promise<Duplex>, clock: Clock): Promise<Answering> {
  let channel: Duplex
  try {
    channel = await dial()
  } catch (error) {
    if (error instanceof PortRefused) return 'nothing'
    throw error
  }
  if ((await statusOf(channel, clock, '/')) !== undefined) return 'http'
  const second = await dial()
  const secured = await limited(clock, overTls(second)).catch(() => undefined)
  second.destroy()
  return secured === undefined ? 'other' : 'https'
}

/** The HTTP status of one GET, which closes the channel; undefined if the answer is not HTTP or is late. */
export function statusOf(
  channel: Duplex,
  clock: Clock,
  path: string,
  headers: Record<string, string> = {},
): Promise<number | undefined> {
  const asked = new Promise<number | undefined>(resolve => {
    const asking = request({
      createConnection: () => channel,
      path,
      headers: { host: 'localhost', connection: 'close', ...headers },
      maxHeaderSize: 65_536,
    })
    asking.on('response', response => {
      response.destroy()
      resolve(response.statusCode)
    })
    asking.on('upgrade', () => resolve(101))
    asking.on('error', () => resolve(undefined))
    asking.on('close', () => resolve(undefined))
    asking.end()
  })
  return limited(clock, asked)
    .catch(() => undefined)
    .finally(() => channel.destroy())
}

function limited<T>(clock: Clock, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(patience, () => reject(new Error('it says nothing')))
    work.then(resolve, reject).finally(cancel)
  })
}
