import type { SshAddress } from '../../contract/instance/instance.ts'
import { checkHost, checkPort } from '../connection/ssh-address.ts'
import { instanceOptions, optionPath } from '../ssh-command.ts'
import { hostNames, type Named } from './host-names.ts'

/** The data of an instance's `Host` entry. Paths are absolute. */
export interface ConfigEntry extends Named {
  address: SshAddress
  keyPath: string
  knownHostsPath: string
}

/** The text of Berth's own SSH config file. Throws `bad_address`. */
export function configText(entries: readonly ConfigEntry[]): string {
  const names = hostNames(entries)
  const hosts = entries.map((entry, index) => hostText(entry, names[index] ?? []))
  return `# Written by Berth, and written anew when an instance comes, moves or goes: changes here are lost.\n${hosts.join('')}`
}

function hostText(entry: ConfigEntry, names: string[]): string {
  const { address, keyPath } = entry
  const lines = [
    `HostName ${checkHost(address.host)}`,
    `Port ${checkPort(address.port)}`,
    'User root',
    `IdentityFile ${optionPath(keyPath)}`,
    ...instanceOptions(entry).map(option => option.join(' ')),
  ]
  return `\nHost ${names.join(' ')}\n${lines.map(line => `  ${line}\n`).join('')}`
}
