import { BerthError } from '../contract/problem.ts'
import type { Connection } from './connection/connection.ts'
import { connectionLost } from './connection/ssh-problems.ts'
import { type Output, outputOf } from './exec.ts'

/**
 * Runs parts of a shell script on the instance with these variables set, as one compound command, which the shell reads
 * whole before it begins. All of it goes over standard input, nothing on a command line. Throws `ssh_timeout`, or
 * `ssh_closed`, also for a script without an exit code: it was ended before its end, as when its container stops.
 */
export async function runScript(
  connection: Connection,
  values: Readonly<Record<string, string>>,
  parts: readonly string[],
  bounds: Omit<Parameters<typeof outputOf>[2], 'input'>,
): Promise<Output> {
  const assigned = Object.entries(values).map(([name, value]) => `${name}=${quoted(value)}`)
  const input = ['{', ...assigned, ...parts, '} < /dev/null', ''].join('\n')
  const output = await outputOf(connection, 'sh -s', { ...bounds, input })
  if (output.code === undefined && output.bytes.length < bounds.most)
    throw new BerthError(connectionLost(connection.address, 'it broke off'))
  return output
}

/** Quotes a text as one word of a POSIX shell. */
export function quoted(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`
}
