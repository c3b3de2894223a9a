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
 * The system's ssh and its arguments: with this key and no other, host keys from Berth's own file under the
 * instance's own name, and no agent forwarded. Throws `bad_address`.
 */
export function sshCommand(options: SshCommand): string[] {
  const { account, instance, address, keyPath, knownHostsPath } = options
  return [
    'ssh',
    // ssh looks for the file of -i before it expands percent signs, and for that of the option after.
    ...(keyPath.includes('%') ? ['-o', `IdentityFile=${optionPath(keyPath)}`] : ['-i', keyPath]),
    '-o',
    'IdentitiesOnly=yes',
    '-o',
    `UserKnownHostsFile=${optionPath(knownHostsPath)}`,
    '-o',
    `HostKeyAlias=${hostKeyAlias(account, instance)}`,
    '-o',
    'HashKnownHosts=no',
    '-o',
    'ForwardAgent=no',
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
