import type { SshAddress } from '#contract/instance/instance.ts'
import { BerthError } from '#contract/problem.ts'
import type { Programs } from '#machine/machine.ts'
import { quote } from '../ssh-command.ts'

/**
 * The arguments of the user's own terminal command, with its placeholders filled in. An argument `{ssh}` becomes the
 * arguments of ssh; within a longer argument, `{ssh}` is one line for a POSIX shell. `{host}` and `{port}` are the
 * address. Without any placeholder, ssh and its arguments are appended.
 */
export function ownTerminalArgs(
  command: readonly string[],
  ssh: readonly string[],
  { host, port }: SshAddress,
): string[] {
  const given = command.some(arg => /\{(ssh|host|port)\}/.test(arg)) ? command : [...command, '{ssh}']
  const values: Readonly<Record<string, string>> = { ssh: quote(ssh), host, port: String(port) }
  return given.flatMap(arg =>
    arg === '{ssh}' ? ssh : [arg.replaceAll(/\{(ssh|host|port)\}/g, (_, name: string) => values[name] ?? '')],
  )
}

/** Opens the user's own terminal with ssh in it, without a shell in between. Throws `no_terminal`. */
export async function openOwnTerminal(
  programs: Programs,
  command: readonly string[],
  [ssh = 'ssh', ...args]: readonly string[],
  address: SshAddress,
): Promise<void> {
  const [name = '', ...rest] = command
  const program = await programs.find(name)
  if (program === undefined) {
    throw new BerthError({
      code: 'no_terminal',
      message: `The terminal program “${name}” of settings.json is not on this machine.`,
      advice: 'Enter its full path in terminal.command of settings.json, then restart Berth.',
    })
  }
  await programs.launch(program, ownTerminalArgs(rest, [(await programs.find(ssh)) ?? ssh, ...args], address))
}
