import { isIP } from 'node:net'
import type { SshAddress } from '#shared/instance/instance.ts'
import { checkHost, checkPort } from './connection/addresses.ts'
import { instanceOptions, optionPath } from './ssh-command.ts'

/** The data of an instance's `Host` entry. Paths are absolute. */
export interface ConfigEntry extends Named {
  address: SshAddress
  keyPath: string
  knownHostsPath: string
}

/**
 * Options that the user may have set for all hosts, reset to OpenSSH's defaults: otherwise they decide the host, user
 * and program of `ssh berth-…`. ssh takes the first value of each, and lets nothing undo the forwards that `Host *`
 * opens: `ClearAllForwardings yes` would also clear those of an editor's command line.
 */
const defaults: readonly (readonly [string, string])[] = [
  ['AddressFamily', 'any'],
  ['CanonicalizeHostname', 'no'],
  ['CheckHostIP', 'no'],
  ['ClearAllForwardings', 'no'],
  // An open connection to the same proxy address may lead to another instance, and its host key isn't checked again.
  ['ControlMaster', 'no'],
  ['ControlPath', 'none'],
  ['ControlPersist', 'no'],
  ['ExitOnForwardFailure', 'no'],
  // With a plus and a name that is among them, these lists are OpenSSH's own.
  ['HostKeyAlgorithms', '+ssh-ed25519'],
  ['PubkeyAcceptedKeyTypes', '+ssh-ed25519'],
  ['NoHostAuthenticationForLocalhost', 'no'],
  ['PermitLocalCommand', 'no'],
  ['ProxyCommand', 'none'],
  ['ProxyJump', 'none'],
  ['PubkeyAuthentication', 'yes'],
  ['RemoteCommand', 'none'],
  ['RequestTTY', 'auto'],
  ['Tunnel', 'no'],
  ['UpdateHostKeys', 'no'],
  ['VerifyHostKeyDNS', 'no'],
]

/** The same for options that came with OpenSSH 8.5 and 8.7. An older ssh refuses a whole file with an unknown option. */
const recentDefaults: readonly (readonly [string, string])[] = [
  ['ForkAfterAuthentication', 'no'],
  ['KnownHostsCommand', 'none'],
  ['SessionType', 'default'],
  ['StdinNull', 'no'],
]

/** The arguments with which an ssh that knows the recent options ends with 0, and connects to nothing. */
export const recentOptionsProbe: readonly string[] = [
  '-F',
  'none',
  ...recentDefaults.flatMap(([name, value]) => ['-o', `${name}=${value}`]),
  '-G',
  'berth',
]

/**
 * The text of Berth's own SSH config file. `recentOptions`: every ssh that may read it knows those of OpenSSH 8.7.
 * Throws `bad_address`.
 */
export function configText(entries: readonly ConfigEntry[], recentOptions: boolean): string {
  const names = hostNames(entries)
  const hosts = entries.map((entry, index) => hostText(entry, names[index] ?? [], recentOptions))
  return `# Written by Berth, and written anew when an instance comes, moves or goes: changes here are lost.\n${hosts.join('')}`
}

function hostText(entry: ConfigEntry, names: string[], recentOptions: boolean): string {
  const { address, keyPath } = entry
  const version = isIP(address.host)
  const options = [
    ['HostName', checkHost(address.host)],
    ['Port', checkPort(address.port)],
    ['User', 'root'],
    ['IdentityFile', optionPath(keyPath)],
    // Any address of this computer; it also wins over BindInterface. A host name doesn't say which of the two fits.
    ...(version === 0 ? [] : [['BindAddress', version === 6 ? '::' : '0.0.0.0']]),
    ...instanceOptions(entry),
    ...defaults,
    ...(recentOptions ? recentDefaults : []),
  ]
  return `\nHost ${names.join(' ')}\n${options.map(option => `  ${option.join(' ')}\n`).join('')}`
}

/** An instance to be named in the SSH config. */
export interface Named {
  account: string
  instance: number
  label?: string
}

/** The most characters of a label that a host name contains. */
const longest = 40

/**
 * The `Host` names of each instance, all beginning with `berth-`: by its number, and by its label made safe. A name
 * that two instances would share is given to neither; the instance's number or account is added to it, so that nobody
 * connects to the wrong machine. If the demo and a real account share a number, the real one gets it.
 */
export function hostNames(instances: readonly Named[]): string[][] {
  const real = instances.filter(({ account }) => account !== 'demo')
  const numbers = countOf(instances.map(({ instance }) => String(instance)))
  const realNumbers = countOf(real.map(({ instance }) => String(instance)))
  const labels = countOf(instances.map(({ label }) => safeLabel(label)))

  const wanted = instances.map(({ account, instance, label }) => {
    const number = String(instance)
    const alone = numbers.get(number) === 1 || (account !== 'demo' && realNumbers.get(number) === 1)
    const byNumber = alone ? number : `${number}-${account}`
    const safe = safeLabel(label)
    if (safe === undefined) return [byNumber]
    return [byNumber, labels.get(safe) === 1 ? safe : `${safe}-${byNumber}`]
  })
  // A label may equal a name of another instance: then it is dropped, and the number stays.
  const taken = countOf(wanted.flat())
  return wanted.map(([byNumber = '', byLabel]) =>
    (byLabel !== undefined && taken.get(byLabel) === 1 ? [byNumber, byLabel] : [byNumber]).map(
      name => `berth-${name}`,
    ),
  )
}

/** Lower-case letters, digits and single dashes; undefined if nothing is left, or it looks like a number. */
export function safeLabel(label: string | undefined): string | undefined {
  const safe = (label ?? '')
    .slice(0, 10 * longest)
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, longest)
    .replaceAll(/^-|-$/g, '')
  return safe === '' || /^[0-9-]+$/.test(safe) ? undefined : safe
}

function countOf(names: readonly (string | undefined)[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}
