import type { AccountId } from '#contract/ids.ts'
import type { ActivityEntry } from '#contract/state.ts'
import { type Alert, alertOf } from '../alerts/events.ts'
import type { Transfer } from './model.ts'

/** A transfer's name: `copy of #12:/data to #15:/data`. */
function transferName({ kind, from, to }: Pick<Transfer, 'kind' | 'from' | 'to'>): string {
  return `${kind === 'copy' ? 'copy' : 'cloud sync'} of ${side(from)} to ${side(to)}`
}

function side({ instance, path }: Transfer['from']): string {
  return `${instance === undefined ? 'cloud' : `#${instance}`}:${path}`
}

/** The alert for a transfer that has failed, or of which the service says nothing more. */
export function lostAlert(account: AccountId, transfer: Transfer): Alert {
  const { id, kind, step, from, to, message } = transfer
  const instance = to.instance ?? from.instance
  return alertOf('transferFailed', {
    id: `${account}/transfer/${id}`,
    instance,
    title: `A ${kind === 'copy' ? 'copy' : 'cloud sync'} ${step === 'failed' ? 'failed' : 'may not be complete'}`,
    body: `The ${transferName(transfer)}${message ? `: ${message}` : ' gave no reason.'}`,
  })
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
