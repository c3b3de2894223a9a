import type { ClientChannel } from 'ssh2'
import { BerthError } from '../../contract/problem.ts'
import type { Clock } from '../../ports/clock.ts'
import { deferred } from '../../ports/deferred.ts'
import type { Connection } from '../connection/connection.ts'
import { connectionLost, timedOut } from '../connection/ssh-problems.ts'
import { openExec } from '../exec.ts'
import { quoted } from '../scripted.ts'

/** A script on an instance that reads on from its input where it ends itself. */
export interface ScriptStream {
  /** What it writes: read it, or nothing more comes. */
  readonly output: ClientChannel
  /** Resolves when there is room for more. Rejects with `ssh_closed` once it has ended. */
  write(bytes: Uint8Array): Promise<void>
  end(): void
  /** What it writes has come: silence counts anew. */
  heard(): void
  /** Resolves once it has ended by itself. Rejects with `ssh_closed` where it was ended, `ssh_timeout` after silence. */
  readonly ended: Promise<void>
  close(): void
}

/** Reads a line, which is a script, and leaves the rest of the input to that: nothing of it is on a command line. */
const command = 'sh -c \'IFS= read -r script && eval "$script"\''

/** Milliseconds of silence after which nobody works on it any more: disks of others may be slow. */
const patience = 10 * 60_000

/** Throws `ssh_timeout` or `ssh_closed`. */
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
  { address }: Pick<Connection, 'address'>,
): () => ScriptStream {
  let exited = false
  let closed = false
  let silent = false
  const waiting = new Set<() => void>()
  const over = deferred<void>()
  // Whoever awaits it hears of its failure; until then it is nobody's.
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
  /** The other side may keep its own open for as long as it likes. */
  function close(): void {
    channel.close()
    end()
  }
  function end(): void {
    if (closed) return
    closed = true
    cancel()
    if (exited) over.resolve(undefined)
    else over.reject(lost())
    for (const go of waiting) go()
  }
  function lost(): BerthError {
    return silent ? timedOut(address) : new BerthError(connectionLost(address, 'it broke off'))
  }

  channel.stderr.resume()
  channel.on('error', () => undefined) // told by its close
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
