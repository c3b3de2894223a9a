import { connect, type Socket } from 'node:net'
import type { Clock } from '#platform/platform.ts'
import type { SshAddress } from '#shared/instance/instance.ts'
import { closedHere, reasonOf, timedOut, unreachable } from './ssh-problems.ts'

/** The time limit of an attempt, and the signal that aborts it. */
export interface DialTimeouts {
  clock: Clock
  /** Milliseconds. */
  within: number
  signal: AbortSignal
}

/**
 * Opens a TCP connection, without Nagle's delay. Throws `ssh_unreachable`, `ssh_timeout`, or `ssh_closed` if the signal
 * aborts it.
 */
export function dial(address: SshAddress, { clock, within, signal }: DialTimeouts): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address.host, port: address.port, noDelay: true })
    const giveUp = (error: Error) => {
      cleanUp()
      socket.on('error', () => {}) // a later error without a listener would crash Berth
      socket.destroy()
      reject(error)
    }
    const abort = () => giveUp(closedHere())
    const cancel = clock.after(within, () => giveUp(timedOut(address)))
    const cleanUp = () => {
      cancel()
      signal.removeEventListener('abort', abort)
      socket.removeAllListeners('error')
      socket.removeAllListeners('connect')
    }
    socket.on('error', error => giveUp(unreachable(address, reasonOf(error))))
    socket.on('connect', () => {
      cleanUp()
      resolve(socket)
    })
    signal.addEventListener('abort', abort)
    if (signal.aborted) abort()
  })
}

/** Resolves if an SSH server greets at the address. Throws like `dial`, and `ssh_unreachable` for any other server. */
export async function greetsAsSsh(address: SshAddress, limits: DialTimeouts): Promise<void> {
  const start = limits.clock.monotonic()
  const socket = await dial(address, limits)
  const left = limits.within - (limits.clock.monotonic() - start)
  try {
    await new Promise<void>((resolve, reject) => {
      const cancel = limits.clock.after(Math.max(0, left), () => reject(timedOut(address)))
      const abort = () => reject(closedHere())
      limits.signal.addEventListener('abort', abort)
      let text = ''
      socket.on('data', chunk => {
        text += chunk.toString('latin1')
        if (/^SSH-/m.test(text)) resolve()
        else if (text.length > 8192) reject(unreachable(address, 'the server there doesn’t speak SSH'))
      })
      socket.on('error', error => reject(unreachable(address, reasonOf(error))))
      socket.on('close', () => {
        cancel()
        limits.signal.removeEventListener('abort', abort)
        reject(unreachable(address, 'it closed the connection before identifying itself'))
      })
    })
  } finally {
    socket.destroy()
  }
}
