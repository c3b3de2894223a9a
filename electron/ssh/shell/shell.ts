import { Duplex } from 'node:stream'
import type { ClientChannel } from 'ssh2'
import type { Problem } from '#shared/problem.ts'
import { addressText } from '../connection/addresses.ts'
import type { Connection } from '../connection/connection.ts'
import { connectionLost, shellRefused } from '../connection/ssh-problems.ts'

/** A shell on an instance. */
export type Shell = Awaited<ReturnType<typeof openShellOn>>

export interface ShellSize {
  columns: number
  rows: number
}

/**
 * Opens the user's shell on a connection, or runs a command of Berth's instead. Throws `shell_refused`, `ssh_closed` or
 * `ssh_timeout`.
 */
export async function openShellOn(
  connection: Connection,
  direct: boolean,
  size: ShellSize,
  command?: string,
) {
  const { client, address } = connection
  const request = new Promise<ClientChannel>((resolve, reject) => {
    const window = { term: 'xterm-256color', cols: size.columns, rows: size.rows }
    const opened = (error: Error | undefined, channel: ClientChannel) =>
      error ? reject(error) : resolve(channel)
    if (command === undefined) client.shell(window, opened)
    else client.exec(command, { pty: window }, opened)
  })
  const channel = await connection.answered(request, why => shellRefused(address, why))

  let closedHere = false
  const stream = streamOf(channel)
  const ended = new Promise<Problem | undefined>(resolve => {
    const end = (problem: Problem | undefined) => resolve(closedHere ? undefined : problem)
    let exited = false
    let ending = false
    channel.once('end', () => {
      ending = true
    })
    channel.once('exit', (code: number | null, signal?: string) => {
      exited = true
      if (code === null) end(connectionLost(address, `the shell was ended by ${signal ?? 'a signal'}`))
    })
    channel.once('close', () => {
      // A lost connection closes its channels first; `connection.lost` gives the reason right after.
      if (exited) end(undefined)
      else setImmediate(() => end(connectionLost(address, 'the shell was ended from the other side')))
    })
    stream.once('close', () => {
      if (!ending) end(undefined)
    })
    connection.lost.then(end)
  })
  const left = new Promise<boolean>(resolve => {
    connection.lost.then(() => resolve(false))
    channel.once('close', () => setImmediate(() => resolve(true)))
  })
  ended.then(() => {
    // Bytes that arrived before the end can still be read; then the stream ends.
    channel.close()
  })
  return {
    /** The bytes in both directions, with back-pressure. */
    stream,
    resize: (columns: number, rows: number): void => channel.setWindow(rows, columns, 0, 0),
    close(): void {
      closedHere = true
      stream.destroy()
    },
    /** `root@host:port`. */
    address: addressText(address),
    /** Whether it connects directly to the machine instead of the service's proxy. */
    direct,
    hostKey: connection.hostKey,
    /** Resolves when the shell has ended: with the reason, unless it exited or was closed here. */
    ended,
    /** Resolves after `ended`: whether the instance confirmed the end; false if the connection was lost before. */
    left,
  }
}

/**
 * The channel as a standard Node stream. ssh2's own is not one: `destroy` has no effect, `close` never comes while
 * bytes are unread, and a write after the end never calls back.
 */
function streamOf(channel: ClientChannel): Duplex {
  let hasEnded = false
  let waiting: ((error?: Error | null) => void) | undefined
  const stream = new Duplex({
    allowHalfOpen: false,
    read: () => void channel.resume(),
    write(chunk, _encoding, done) {
      if (hasEnded) return done()
      waiting = done
      channel.write(chunk, () => {
        waiting = undefined
        done()
      })
    },
    final(done) {
      channel.end()
      done()
    },
    destroy(error, done) {
      finish()
      channel.removeAllListeners('data')
      channel.resume()
      channel.close()
      done(error)
    },
  })
  /** Ends writing, and calls back a pending write. */
  function finish() {
    hasEnded = true
    const done = waiting
    waiting = undefined
    done?.()
  }
  channel.on('data', (chunk: Buffer) => {
    if (!stream.push(chunk)) channel.pause()
  })
  channel.once('end', () => {
    finish()
    stream.push(null)
  })
  channel.on('error', () => {}) // `ended` reports it
  channel.stderr.resume()
  return stream
}
