import type { Readable } from 'node:stream'
import type { Clock } from '#platform/platform.ts'
import { BerthError } from '#shared/problem.ts'
import type { Connection } from '../connection/connection.ts'
import { commandSilent, connectionLost } from '../connection/ssh-problems.ts'
import { type Exec, openExec, refuseKilled, shellQuoted } from '../exec.ts'

/** A running script on an instance, with streams for its input and output. */
export interface ScriptStream {
  /** The script's output; the script stalls unless it is read. */
  readonly output: Readable
  /** Resolves when there is room for more. Rejects with `ssh_closed` or `ssh_timeout` once the script has ended. */
  write(bytes: Uint8Array): Promise<void>
  end(): void
  /** Call this for each piece of output: it restarts the timeout. */
  heard(): void
  /** Resolves once the script has ended. Rejects with `ssh_closed` if it broke off, `ssh_timeout` after silence. */
  readonly ended: Promise<void>
  close(): void
}

/** Reads the script from one line of input, and leaves it the rest, so that no value is on a command line. */
const command = 'sh -c \'IFS= read -r script && eval "$script"\''

/** Milliseconds of silence after which the script counts as hung; a slow disk takes long. */
const patience = 10 * 60_000

/** Starts a script with these variables set. Throws `shell_replaced`, `ssh_timeout`, `ssh_full` or `ssh_closed`. */
export async function openScript(
  connection: Connection,
  clock: Clock,
  values: Readonly<Record<string, string>>,
  script: string,
): Promise<ScriptStream> {
  const assigned = Object.entries(values).map(([name, value]) => `${name}=${shellQuoted(value)};`)
  const line = [...assigned, ...script.trim().split('\n')].join(' ')
  const exec = await openExec(connection, clock, command)
  await exec.begun
  const stream = streamOf(exec, connection, clock)
  await stream.write(Buffer.from(`${line}\n`))
  return stream
}

function streamOf(
  { channel, output, close, ...exec }: Exec,
  { address }: Pick<Connection, 'address'>,
  clock: Clock,
): ScriptStream {
  const ended = exec.ended.then(code => refuseKilled({ address }, code))
  // Awaited later; until then, this prevents an unhandled rejection.
  ended.catch(() => undefined)
  const waiting = new Set<() => void>()
  let closed = false
  const giveUp = () => close(commandSilent(address))
  let cancel = clock.after(patience, giveUp)

  function heard(): void {
    cancel()
    if (!closed) cancel = clock.after(patience, giveUp)
  }
  function proceed(): void {
    for (const go of waiting) go()
  }
  // The script may end before it has read all of its input.
  output.once('close', () => {
    closed = true
    cancel()
    proceed()
  })
  channel.on('drain', () => {
    heard()
    proceed()
  })
  const lost = () =>
    ended.then(() => Promise.reject(new BerthError(connectionLost(address, 'it ended unexpectedly'))))
  return {
    output,
    write(bytes) {
      if (closed) return lost()
      if (channel.write(bytes)) return Promise.resolve()
      return new Promise((resolve, reject) => {
        const go = () => {
          waiting.delete(go)
          if (closed) lost().catch(reject)
          else resolve()
        }
        waiting.add(go)
      })
    },
    heard,
    end: () => void channel.end(),
    ended,
    close: () => close(),
  }
}
