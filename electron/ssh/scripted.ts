import { BerthError } from '../contract/problem.ts'
import type { Connection } from './connection/connection.ts'
import { connectionLost } from './connection/ssh-problems.ts'
import { type Output, outputOf } from './exec.ts'

/**
 * Runs parts of a shell script on the instance with these variables set, as one compound command, which the shell reads
 * whole before it begins. All of it goes over standard input, nothing on a command line. Throws as `outputOf` does, and
 * `ssh_closed` for a script that was killed, as when its container stops.
 */
export async function runScript(
  connection: Connection,
  values: Readonly<Record<string, string>>,
  parts: readonly string[],
  bounds: Omit<Parameters<typeof outputOf>[2], 'input'>,
): Promise<Output> {
  const assigned = Object.entries(values).map(([name, value]) => `${name}=${shellQuoted(value)}`)
  const input = ['{', ...assigned, ...parts, '} < /dev/null', ''].join('\n')
  const output = await outputOf(connection, 'sh -s', { ...bounds, input })
  refuseKilled(connection, output.code)
  return output
}

/** Throws `ssh_closed` for the exit code of a script that a signal ended, so its output may be half. */
export function refuseKilled({ address }: Pick<Connection, 'address'>, code: number | undefined): void {
  if (code !== undefined && code > 128) throw new BerthError(connectionLost(address, 'it broke off'))
}

/** Quotes a text as one word of a POSIX shell. */
export function shellQuoted(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`
}
