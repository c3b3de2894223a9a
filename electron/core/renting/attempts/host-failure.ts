import type { InstanceView } from '#contract/instance/instance.ts'
import { hasTrait } from '#contract/instance/state-traits.ts'
import { isDead } from '#contract/reading.ts'
import type { AccountPoll } from '#core/account-context.ts'
import { deathOf } from '../rentals/decide.ts'
import type { Rental } from '../rentals/model.ts'
import { noImage, sentenceFor } from '../rentals/words.ts'
import type { AttemptParts } from './outcomes.ts'

/** Seconds: an instance that dies this soon after it began to run counts against its host. */
const soon = 3600

/**
 * Why a rental's failure counts against its machine: it never ran, or died by itself within an hour of running.
 * Undefined if the user stopped it, it was outbid, or Berth did not see it.
 */
export function hostFailure(
  { step, problem }: Pick<Rental, 'step' | 'problem'>,
  instance: InstanceView | undefined,
): string | undefined {
  if (step === 'late') return problem?.code === 'no_gpu' ? undefined : problem?.message
  if (!instance || !isDead(instance) || instance.intendedStatus === 'stopped') return undefined
  const { history, state } = instance
  if (deathOf(instance) === noImage) return undefined
  // An exit that may be temporary can be the first sign of a crash.
  const lived = history.findLastIndex(change => change.state !== 'exited' && !hasTrait(change.state, 'dead'))
  const before = history[lived]
  const diedAt = history[lived + 1]?.at
  if (!before || diedAt === undefined) return undefined
  if (before.state === 'running') return diedAt - before.at <= soon ? afterRunning[state] : undefined
  const neverRan = hasTrait(before.state, 'booting') && !history.some(change => change.state === 'running')
  return neverRan ? sentenceFor(state).message : undefined
}

/** Remembers the machines of rentals that failed at a poll. A running series judges its own attempts. */
export async function blameHosts(
  { attempts, hosts, rentals }: Pick<AttemptParts, 'attempts' | 'hosts' | 'rentals'>,
  { account, at }: AccountPoll,
): Promise<void> {
  for (const rental of rentals.all()) {
    const { id, offer, instance, unwanted, owner } = rental
    if (unwanted || instance === undefined || attempts.find(owner ?? '')?.step === 'trying') continue
    const why = hostFailure(rental, account.instances[instance])
    if (why !== undefined) await hosts.blame({ rental: id, offer, at, why })
  }
  attempts.show()
}

const afterRunning: Readonly<Partial<Record<InstanceView['state'], string>>> = {
  crashed: 'The container crashed within an hour of running.',
  silent: 'The host stopped sending a heartbeat within an hour.',
  offline: 'The host went offline within an hour of running.',
}
