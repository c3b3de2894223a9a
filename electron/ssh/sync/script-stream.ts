import type { ClientChannel } from 'ssh2'
import { BerthError } from '../../contract/problem.ts'
import type { Clock } from '../../ports/clock.ts'
import { deferred } from '../../ports/deferred.ts'
import type { Connection } from '../connection/connection.ts'
import { connectionLost, timedOut } from '../connection/ssh-problems.ts'
import { openExec } from '../exec.ts'
import { quoted } from '../scripted.ts'

/** A running script on an instance, with streams for its input and output. */
export interface ScriptStream {
  /** The script's output; the script stalls unless it is read. */
  readonly output: ClientChannel
  /** Resolves when there is room for more. Rejects with `ssh_closed` or `ssh_timeout` once the script has ended. */
  write(bytes: Uint8Array): Promise<void>
  end(): void
  /** Call this for each piece of output: it restarts the timeout. */
  heard(): void
  /** Resolves once the script has exited. Rejects with `ssh_closed` if it broke off, `ssh_timeout` after silence. */
  readonly ended: Promise<void>
  close(): void
}

/** Reads the script from one line of input, and leaves it the rest, so that no value is on a command line. */
const command = 'sh -c \'IFS= read -r script && eval "$script"\''

/** Milliseconds of silence after which the script counts as hung; a slow disk takes long. */
const patience = 10 * 60_000

/** Starts a script with these variables set. Throws `ssh_timeout` or `ssh_closed`. */
export async function openScript(
  connection: Connection,
  clock: Clock,
  values: Readonly<Record<string, string>>,
  script: string,
): Promise<ScriptStream> {
  const assigned = Object.entries(values).map(([name, value]) => `${name}=${quoted(value)};`)
  const line = [...assigned, ...script.trim().split('\n')].join(' ')
  const open = await openExec(connection, command, channel => listen(channel, clock, connection))
  const stream = open()
  await stream.write(Buffer.from(`${line}\n`))
  return stream
}

function listen(
  channel: ClientChannel,
  clock: Clock,
  { address, hasEnded }: Pick<Connection, 'address' | 'hasEnded'>,
): () => ScriptStream {
  let exited = false
  let closed = false
  let silent = false
  const waiting = new Set<() => void>()
  const over = deferred<void>()
  // Awaited later; until then, this prevents an unhandled rejection.
  over.promise.catch(() => undefined)
  let cancel = clock.after(patience, giveUp)

  function heard(): void {
    cancel()
    if (!closed) cancel = clock.after(patience, giveUp)
  }
  function giveUp(): void {
    silent = true
    close()
  }
  /** Ends at once, since the other side may keep the channel open for as long as it likes. */
  function close(): void {
    channel.close()
    end()
  }
  function end(): void {
    if (closed) return
    closed = true
    cancel()
    // The exit may be told before the last of the output has come.
    if (exited && !hasEnded()) over.resolve(undefined)
    else over.reject(lost())
    for (const go of waiting) go()
  }
  function lost(): BerthError {
    return silent ? timedOut(address) : new BerthError(connectionLost(address, 'it broke off'))
  }

  channel.stderr.resume()
  channel.on('error', () => undefined) // `close` follows
  channel.on('exit', status => {
    exited = typeof status === 'number'
  })
  channel.once('close', end)
  channel.on('drain', () => {
    heard()
    for (const go of waiting) go()
  })
  const stream: ScriptStream = {
    output: channel,
    write(bytes) {
      if (closed) return Promise.reject(lost())
      if (channel.write(bytes)) return Promise.resolve()
      return new Promise((resolve, reject) => {
        const go = () => {
          waiting.delete(go)
          if (closed) reject(lost())
          else resolve()
        }
        waiting.add(go)
      })
    },
    heard,
    end: () => void channel.end(),
    ended: over.promise,
    close,
  }
  return () => stream
}
