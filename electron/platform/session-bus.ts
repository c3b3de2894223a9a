import type { EventEmitter } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { MessageBus } from '@jellybrick/dbus-next'

/** A call on the session bus timed out, or the bus is gone. */
export class BusError extends Error {
  readonly code = 'no_bus'
}

export interface BusCall {
  destination: string
  path: string
  interface: string
  member: string
  signature?: string
  body?: unknown[]
}

/** A signal from a service's interface. */
export interface Signal {
  interface: string
  member: string
  body: readonly unknown[]
}

/** A connection to the user's session bus, by single messages and without introspection. */
export type SessionBus = Awaited<ReturnType<typeof openSessionBus>>

/** The session bus's address; undefined where this session has none. */
export function busAddress(env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (env['DBUS_SESSION_BUS_ADDRESS']) return env['DBUS_SESSION_BUS_ADDRESS']
  const socket = env['XDG_RUNTIME_DIR'] && join(env['XDG_RUNTIME_DIR'], 'bus')
  return socket && existsSync(socket) ? `unix:path=${socket}` : undefined
}

const patience = 2_000

/** Connects. Rejects with a BusError where nothing answers, and with the library's errors. */
export async function openSessionBus(address: string) {
  const { Message, MessageType, sessionBus } = await import('@jellybrick/dbus-next')
  const bus: MessageBus = sessionBus({ busAddress: address })
  // The library emits errors without declaring that.
  const emitter: EventEmitter = bus as unknown as EventEmitter
  const broken = new Promise<never>((_, reject) => emitter.on('error', reject))
  broken.catch(() => undefined)

  function limited<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new BusError('the session bus did not answer')), patience)
    })
    return Promise.race([work, broken, late]).finally(() => clearTimeout(timer))
  }

  await limited(new Promise<void>(resolve => bus.once('connect', resolve)))

  return {
    /** The body of the answer. Rejects where the service refuses, after two seconds, and where the bus is gone. */
    async call(call: BusCall): Promise<readonly unknown[]> {
      const answer = await limited(bus.call(new Message({ signature: '', body: [], ...call })))
      return answer?.body ?? []
    },
    onSignal(listener: (signal: Signal) => void): void {
      bus.on('message', message => {
        if (message.type !== MessageType.SIGNAL) return
        listener({ interface: message.interface, member: message.member, body: message.body })
      })
    },
    close: (): void => bus.disconnect(),
  }
}

/** The version of one of the desktop's portals. Rejects where there is no bus, no portal, or no such interface. */
export async function portalVersion(
  env: Readonly<Record<string, string | undefined>>,
  name: string,
): Promise<unknown> {
  const address = busAddress(env)
  if (address === undefined) throw new BusError('there is no session bus')
  const bus = await openSessionBus(address)
  try {
    return await bus.call({
      destination: 'org.freedesktop.portal.Desktop',
      path: '/org/freedesktop/portal/desktop',
      interface: 'org.freedesktop.DBus.Properties',
      member: 'Get',
      signature: 'ss',
      body: [`org.freedesktop.portal.${name}`, 'version'],
    })
  } finally {
    bus.close()
  }
}
