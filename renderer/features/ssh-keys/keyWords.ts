import type { AttachedKey, SshKey } from '../../../electron/contract/instance/ssh-key.ts'

/** What a key is called on the page; `keys` are all that there are. */
export function keyTitle(key: SshKey, keys: readonly SshKey[]): string {
  if (key.name === 'berth') return 'Berth’s own key'
  if (key.name === 'agent') {
    const several = keys.filter(({ from }) => from === 'agent').length > 1
    return several ? 'SSH agent, whichever of its keys gets in' : `SSH agent: ${key.comment || 'its key'}`
  }
  if (key.from === 'agent') return `SSH agent: ${key.comment || 'a key'}`
  return key.name.replace(/^berth\//, '')
}

/** Where a key lies, for a name that alone does not say it; `account` is the name of the one that is shown. */
export function keyPlace(key: SshKey, account: string | undefined): string {
  if (key.name === 'berth' && account !== undefined) return `${key.type}, for ${account} alone`
  if (key.name === 'berth' || key.from === 'agent') return key.type
  return key.from === 'berth' ? `${key.type}, kept by Berth` : `${key.type}, in ~/.ssh`
}

/** The instances that Berth attached it to, by id. */
export function attachedTo(
  key: SshKey,
  attached: Readonly<Record<number, readonly AttachedKey[]>>,
): number[] {
  return Object.entries(attached)
    .filter(([, keys]) => keys.some(({ fingerprint }) => fingerprint === key.fingerprint))
    .map(([id]) => Number(id))
}

/** Those that were imported or made in Berth; its own and the user's are not Berth's to delete. */
export function isRemovable({ name, from }: SshKey): boolean {
  return from === 'berth' && name !== 'berth'
}
