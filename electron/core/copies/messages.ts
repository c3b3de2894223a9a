import type { AccountId } from '#shared/ids.ts'
import type { Problem } from '#shared/problem.ts'
import type { ActivityEntry } from '#shared/state.ts'
import { type Alert, alertOf } from '../alerts/events.ts'
import type { Transfer } from './record.ts'

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

export function copyFailed(cloudPath: string, message: string | undefined): Problem {
  return {
    code: 'cloud_copy_failed',
    message: `The copy with ${cloudPath} in the cloud failed${message === undefined ? '.' : `: ${message}`}`,
    advice: 'See Transfers for the service’s message. Resume to copy it again.',
  }
}

export const endedInBetween = 'Berth quit while starting it, so it may be running.'
export const neverBegan = 'Berth quit before starting it.'
export const stillRunning: Problem = {
  code: 'still_running',
  message: 'It’s still running.',
  advice: 'Cancel it first, or wait until it ends.',
}

export const answerLost = 'The service’s answer to the start was lost: it may be running.'

export const wideKeyNeeded: Problem = {
  code: 'wide_key',
  message:
    'The service can’t limit the copy’s key to the copy: on the machine it could rent, stop and destroy your instances.',
  advice: 'Run it again and allow that key, or copy without the service.',
}
