import type { InstanceView } from '#contract/instance/instance.ts'
import { startFailure } from '#contract/instance/start-failure.ts'
import { hasTrait } from '#contract/instance/state-traits.ts'
import type { Problem } from '#contract/problem.ts'
import { isDead } from '#contract/reading.ts'
import type { Rental } from './model.ts'
import { noImage, sentenceFor } from './words.ts'

/** The cause of death of an instance, for `sentenceFor`: an image that cannot be pulled is not the machine's fault. */
export function deathOf({ state, statusMessage }: InstanceView): string {
  return state === 'unstartable' && startFailure(statusMessage) === 'image' ? noImage : state
}

/**
 * The next step of a created rental after a poll: still waiting, running, late, or failed. `instance` is undefined if
 * the answer lacks it; `now` is the account's time in epoch seconds.
 */
export function nextRentalStep(
  rental: Rental,
  instance: InstanceView | undefined,
  now: number,
): { step: Rental['step']; problem?: Problem } {
  if (!instance) return { step: 'failed', problem: sentenceFor('gone') }
  if (instance.state === 'running') return { step: 'running' }
  if (isDead(instance)) return { step: 'failed', problem: sentenceFor(deathOf(instance)) }
  if (instance.state === 'outbid') return { step: 'failed', problem: sentenceFor('outbid') }
  const { asked, state } = instance
  const neverStarted = rental.queued && asked?.state !== 'stopped'
  if (hasTrait(state, 'startable') && !neverStarted) return { step: 'failed', problem: sentenceFor(state) }
  const waits = state === 'waiting' || hasTrait(state, 'startable')
  const isLate = now - (rental.createdAt ?? rental.startedAt) >= rental.deadline
  if (waits) return { step: isLate ? 'late' : 'waiting', problem: sentenceFor('no_gpu') }
  return isLate ? { step: 'late', problem: sentenceFor('late') } : { step: 'waiting' }
}
