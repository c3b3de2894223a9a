import type { AccountId } from '../../contract/ids.ts'
import type { ActivityEntry } from '../../contract/state.ts'
import type { Transfer } from './model.ts'

/** A transfer's name: `copy of #12:/data to #15:/data`. */
function transferName({ kind, from, to }: Pick<Transfer, 'kind' | 'from' | 'to'>): string {
  return `${kind === 'copy' ? 'copy' : 'cloud sync'} of ${side(from)} to ${side(to)}`
}

function side({ instance, path }: Transfer['from']): string {
  return `${instance === undefined ? 'cloud' : `#${instance}`}:${path}`
}

/** A transfer's line in Activity. */
export function transferEntry(
  account: AccountId,
  kind: 'user' | 'berth' | 'error',
  text: string,
  transfer: Transfer,
  detail?: string,
): Omit<ActivityEntry, 'id' | 'at'> {
  return { account, kind, text: `${text}: ${transferName(transfer)}`, detail: detail || undefined }
}
