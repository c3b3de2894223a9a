import type { ClientChannel } from 'ssh2'
import { BerthError } from '../../contract/problem.ts'
import type { Connection } from '../connection/connection.ts'
import { connectionLost } from '../connection/ssh-problems.ts'
import { openExec } from '../exec.ts'
import { quoted } from '../scripted.ts'

/** A script on an instance that reads on from its input where it ends itself. */
export interface ScriptStream {
  /** What it writes: read it, or nothing more comes. */
  readonly output: ClientChannel
  /** Resolves when there is room for more. Rejects with `ssh_closed` once it has ended. */
  write(bytes: Uint8Array): Promise<void>
  end(): void
  /** Resolves once it has ended by itself. Rejects with `ssh_closed` where it was ended. */
  readonly ended: Promise<void>
  close(): void
}

/** Reads a line, which is a script, and leaves the rest of the input to that: nothing of it is on a command line. */
const command = 'sh -c \'IFS= read -r script && eval "$script"\''

/** Throws `ssh_timeout` or `ssh_closed`. */
export async function openScript(
  connection: Connection,
  values: Readonly<Record<string, string>>,
  script: string,
): Promise<ScriptStream> {
  const assigned = Object.entries(values).map(([name, value]) => `${name}=${quoted(value)};`)
  const line = [...assigned, ...script.trim().split('\n')].join(' ')
  const open = await openExec(connection, command, channel => listen(channel, connection))
  const stream = open()
  await stream.write(Buffer.from(`${line}\n`))
  return stream
}

function listen(channel: ClientChannel, { address }: Pick<Connection, 'address'>): () => ScriptStream {
  let exited = false
  let closed = false
  const lost = () => new BerthError(connectionLost(address, 'it broke off'))
  channel.stderr.resume()
  channel.on('error', () => undefined) // told by its close
  channel.on('exit', status => {
    exited = typeof status === 'number'
  })
  const ended = new Promise<void>((resolve, reject) => {
    channel.once('close', () => {
      closed = true
      if (exited) resolve()
      else reject(lost())
    })
  })
  ended.catch(() => undefined)
  const stream: ScriptStream = {
    output: channel,
    write(bytes) {
      if (closed) return Promise.reject(lost())
      if (channel.write(bytes)) return Promise.resolve()
      return new Promise((resolve, reject) => {
        const go = () => {
          channel.off('drain', go)
          channel.off('close', go)
          if (closed) reject(lost())
          else resolve()
        }
        channel.on('drain', go)
        channel.on('close', go)
      })
    },
    end: () => void channel.end(),
    ended,
    close: () => channel.close(),
  }
  return () => stream
}
