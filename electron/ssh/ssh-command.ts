import type { SshAddress } from '../shared/instance/instance.ts'
import { checkHost, checkPort } from './connection/addresses.ts'
import { hostKeyAlias } from './connection/known-hosts.ts'

/** The values for a command line of the system's ssh. Paths are absolute. */
export interface SshCommand {
  account: string
  instance: number
  address: SshAddress
  keyPath: string
  knownHostsPath: string
}

/**
 * ssh options that override the user's own configuration: keys alone, and of the agent's only those that are named;
 * host keys from Berth's own file under the instance's alias, and no agent or X11 forwarding. A first host key is
 * stored without a question, even if another instance has it, and a changed one is refused.
 */
export function instanceOptions({
  account,
  instance,
  knownHostsPath,
}: Pick<SshCommand, 'account' | 'instance' | 'knownHostsPath'>): readonly (readonly [string, string])[] {
  return [
    ['IdentitiesOnly', 'yes'],
    ['PreferredAuthentications', 'publickey'],
    ['HostKeyAlias', hostKeyAlias(account, instance)],
    ['UserKnownHostsFile', optionPath(knownHostsPath)],
    ['StrictHostKeyChecking', 'accept-new'],
    ['HashKnownHosts', 'no'],
    ['ForwardAgent', 'no'],
    ['ForwardX11', 'no'],
  ]
}

/**
 * The command line of the system's ssh, which connects as Berth does. It reads no configuration: keys in it would be
 * offered beside this one, and the service, which names the host, could lead into what is set up for a host's name.
 * Throws `bad_address`.
 */
export function sshCommand(options: SshCommand): string[] {
  const { address, keyPath } = options
  return [
    'ssh',
    '-F',
    'none',
    // ssh checks that the file of -i exists before it expands percent signs, and that of IdentityFile after.
    ...(keyPath.includes('%') ? ['-o', `IdentityFile=${optionPath(keyPath)}`] : ['-i', keyPath]),
    ...instanceOptions(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]),
    '-p',
    String(checkPort(address.port)),
    '--',
    `root@${checkHost(address.host)}`,
  ]
}

/** A path as ssh's configuration needs it: quoted, since it may contain spaces, and with percent signs doubled. */
export function optionPath(path: string): string {
  return `"${path.replaceAll('%', '%%').replaceAll(/["\\]/g, '\\$&')}"`
}

/** The arguments as one line for a POSIX shell. */
export function quote(args: readonly string[]): string {
  return args.map(arg => (/^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`)).join(' ')
}
