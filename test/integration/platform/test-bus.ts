import type { EventEmitter } from 'node:events'
import { type MessageBus, sessionBus } from '@jellybrick/dbus-next'

/**
 * Connects to a test's session bus. The bus may end before this connection has, with its session: that is no failure,
 * and whoever waits for an answer then waits in vain and says so.
 */
export function connectBus(busAddress: string | undefined): MessageBus {
  const bus = sessionBus({ busAddress })
  // The library emits errors without declaring that.
  const emitter = bus as unknown as EventEmitter
  emitter.on('error', () => undefined)
  return bus
}
