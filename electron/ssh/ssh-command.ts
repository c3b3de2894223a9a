import type { SshAddress } from '../contract/instance/instance.ts'
import { hostKeyAlias } from './connection/known-hosts.ts'
import { checkHost, checkPort } from './connection/ssh-address.ts'

/** All that the system's ssh needs to get in as Berth does. Paths are absolute. */
export interface SshCommand {
  account: string
  instance: number
  address: SshAddress
  keyPath: string
  knownHostsPath: string
}

/**
 * What holds for an instance whatever the user's own configuration says of all hosts: this key and no other, host keys
 * from Berth's own file under the instance's own name, and neither agent nor screen for its host. A first host key is
 * remembered without a question, whichever other instance showed it before, and a changed one refused.
 */
export function instanceOptions({
  account,
  instance,
  knownHostsPath,
}: Pick<SshCommand, 'account' | 'instance' | 'knownHostsPath'>): readonly (readonly [string, string])[] {
  return [
    ['IdentitiesOnly', 'yes'],
    ['HostKeyAlias', hostKeyAlias(account, instance)],
    ['UserKnownHostsFile', optionPath(knownHostsPath)],
    ['StrictHostKeyChecking', 'accept-new'],
    ['HashKnownHosts', 'no'],
    ['ForwardAgent', 'no'],
    ['ForwardX11', 'no'],
  ]
}

/** The system's ssh and its arguments, to get in as Berth does. Throws `bad_address`. */
export function sshCommand(options: SshCommand): string[] {
  const { address, keyPath } = options
  return [
    'ssh',
    // ssh looks for the file of -i before it expands percent signs, and for that of the option after.
    ...(keyPath.includes('%') ? ['-o', `IdentityFile=${optionPath(keyPath)}`] : ['-i', keyPath]),
    ...instanceOptions(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]),
    '-p',
    String(checkPort(address.port)),
    '--',
    `root@${checkHost(address.host)}`,
  ]
}

/** A path in the words of ssh's configuration: quoted, for it may hold spaces, and with its percent signs doubled. */
export function optionPath(path: string): string {
  return `"${path.replaceAll('%', '%%').replaceAll(/["\\]/g, '\\$&')}"`
}

/** The arguments as one line for a POSIX shell. */
export function quote(args: readonly string[]): string {
  return args.map(arg => (/^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`)).join(' ')
}
