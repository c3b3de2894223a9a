import type { AttachedKey, SshKey } from '#shared/instance/ssh-key.ts'
import type { Problem } from '#shared/problem.ts'

/** The name of a key on the page; `keys` are all keys. */
export function sshKeyTitle(key: SshKey, keys: readonly SshKey[]): string {
  if (key.name === 'berth') return 'Berth’s own key'
  if (key.name === 'agent') {
    const several = keys.filter(({ from }) => from === 'agent').length > 1
    return several ? 'SSH agent, any of its keys' : `SSH agent: ${key.comment || 'its key'}`
  }
  if (key.from === 'agent') return `SSH agent: ${key.comment || 'a key'}`
  return key.name.replace(/^berth\//, '')
}

/** Where a key is stored, if its name does not show it; `account` is the name of the account shown. */
export function keyPlace(key: SshKey, account: string | undefined): string {
  if (key.name === 'berth' && account !== undefined) return `${key.type}, only for ${account}`
  if (key.name === 'berth' || key.from === 'agent') return key.type
  return key.from === 'berth' ? `${key.type}, kept by Berth` : `${key.type}, in ~/.ssh`
}

/** The ids of the instances that Berth attached a key to. */
export function attachedTo(
  key: SshKey,
  attached: Readonly<Record<number, readonly AttachedKey[]>>,
): number[] {
  return Object.entries(attached)
    .filter(([, keys]) => keys.some(({ fingerprint }) => fingerprint === key.fingerprint))
    .map(([id]) => Number(id))
}

/** Whether Berth may delete a key: only one that was imported or made in Berth, not its own and not the user's. */
export function isRemovable({ name, from }: SshKey): boolean {
  return from === 'berth' && name !== 'berth'
}

/** A host key that the user has to confirm, with the label of the button for that. */
interface HostKeyQuestion {
  /** `SHA256:…` */
  fingerprint: string
  accept: string
}

const accepts: Readonly<Record<string, string>> = {
  host_key_changed: 'Accept the new key',
  host_key_known_elsewhere: 'Accept this key',
}

/** The host key of a problem; undefined for problems of other kinds. */
export function hostKeyQuestion({ code, facts }: Problem): HostKeyQuestion | undefined {
  const fingerprint = facts?.['offered']
  const accept = accepts[code]
  return fingerprint && accept ? { fingerprint, accept } : undefined
}
