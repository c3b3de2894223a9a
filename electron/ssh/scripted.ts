import type { Connection } from './connection/connection.ts'
import { type Output, outputOf } from './exec.ts'

/**
 * Runs parts of shell script on the instance as one compound, which its shell reads whole before it begins, with these
 * variables set. All of it goes by the input: nothing is on a command line. Throws `ssh_timeout` or `ssh_closed`.
 */
export function runScript(
  connection: Connection,
  values: Readonly<Record<string, string>>,
  parts: readonly string[],
  bounds: Omit<Parameters<typeof outputOf>[2], 'input'>,
): Promise<Output> {
  const assigned = Object.entries(values).map(([name, value]) => `${name}=${quoted(value)}`)
  const input = ['{', ...assigned, ...parts, '} < /dev/null', ''].join('\n')
  return outputOf(connection, 'sh -s', { ...bounds, input })
}

/** As one word of a POSIX shell. */
export function quoted(value: string): string {
  return `'${value.replaceAll("'", `'\\''`)}'`
}
