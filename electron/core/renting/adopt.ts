import type { AccountContext } from '#core/account-context.ts'
import { problemOf } from '#core/bridge/problems.ts'
import { hidesMark, markOf, replacedBy } from '#core/instances/mark.ts'
import { askForOne, isRefusal } from '#core/instances/poll-account.ts'
import type { Ledger, Reservation } from '#core/ledger/perform.ts'
import type { Limits } from '#core/limits/service.ts'
import type { RequestSecrets } from '#core/market/request-secrets.ts'
import type { RecoveryChoice } from '#shared/automation/recovery.ts'
import type { Problem } from '#shared/problem.ts'
import { boundsOf } from '#shared/project/bounds.ts'
import type { Micros } from '#shared/spending/money.ts'
import { attemptOf, rentalAlert, rentalAlertId, sentenceFor, tryEntry } from './messages.ts'
import {
  type Attempts,
  isProven,
  isRetrying,
  limitsLeftOf,
  limitsOfAttempt,
  type RentalAttempt,
  rentedAs,
} from './rental.ts'

/** Dependencies for creating instances. */
export interface CreationParts extends RentalNeighbours {
  context: AccountContext
  attempts: Attempts
  secrets: RequestSecrets
}

/** The parts of the account that rentals need. */
export interface RentalNeighbours {
  /** Each try's machine is reserved there before it is asked for. */
  ledger: Pick<Ledger, 'reserve' | 'found' | 'refusal' | 'need'>
  /** Micro-dollars that all machines of a group may cost together; undefined where each has its own bound. */
  mostOf(group: string): Micros | undefined
  /** Called with each instance, and its own key if it has one. */
  onCreated(instance: number, instanceKey: string | undefined): void
  /** Sets the limits that were chosen with the rental. */
  limit: Limits['limitRental']
  /** Sets what Berth does once it is outbid, as chosen with the rental. */
  recover(instance: number, choice: RecoveryChoice): Promise<void>
}

/** What a try's machine may cost, as the ledger reserves and counts it. */
export function reservationOf(
  attempt: RentalAttempt,
  { mostOf }: Pick<RentalNeighbours, 'mostOf'>,
): Reservation {
  const { mark, rental, offer } = attempt
  const perHour = rentedAs(attempt).agreed?.running ?? offer.pricePerHour
  const { by, group } = rental
  const own = boundsOf(limitsLeftOf(rental))
  const ofGroup = group === undefined ? undefined : mostOf(group)
  const isShared = ofGroup !== undefined
  return { mark, by, group, perHour, ...own, ...(isShared && { most: ofGroup }), isShared }
}

/**
 * Requesting an instance; searching for it after a lost answer, to request it again if there is none, or, after a
 * refused repeat, to give up then; destroying what is no longer wanted.
 */
export type Work = 'ask' | 'find' | 'find or give up' | 'undo'

/** How an attempt's work goes on, in so many milliseconds or at once. */
export type WorkDone = 'done' | { work: Work; after?: number }

/** Milliseconds until an unanswered request is repeated. */
export const askAgainAfter = 5000

/**
 * Assigns an instance to a try. Secrets that no other try needs are deleted first: after a kill, the mark finds it, and
 * none is left.
 */
export async function adoptInstance(
  parts: CreationParts,
  mark: string,
  instance: number,
  {
    instanceKey,
    guessed = false,
    queued,
  }: { instanceKey?: string; guessed?: boolean; queued?: boolean } = {},
): Promise<void> {
  const { context, attempts, secrets, ledger } = parts
  const { rental } = attempts.get(mark)
  const { request } = rental
  // It counts even if the try had ended without one.
  ledger.found(reservationOf(attempts.get(mark), parts), instance)
  if (!isRetrying(rental)) await secrets.forget(rental).catch(() => undefined)
  const { unwanted } = attempts.get(mark)
  if (guessed && unwanted) return letUserSay({ context, attempts }, mark, [instance])
  // What was told of it is over: a question which machine it is, or that it had failed.
  context.notifications.withdraw(rentalAlertId(context.account, rental.id))
  // First, as the service reports the instance's own key only this once.
  parts.onCreated(instance, instanceKey)
  // Before the try knows its instance, so that after a kill it is found again, with its limits.
  if (!unwanted) {
    const replaced = replacedBy(request)
    const attempt = attempts.get(mark)
    await parts.limit(mark, instance, limitsOfAttempt(attempt), {
      replaces: replaced,
      since: attempt.askedAt ?? attempt.startedAt,
      brought: attempt.brought,
    })
    // A replacement takes over the choice of the one it replaces, which may have changed since.
    if (request.recovery && request.bid !== undefined && replaced === undefined)
      await parts.recover(instance, request.recovery)
  }
  await attempts.update(mark, {
    step: 'waiting',
    instance,
    createdAt: context.now(),
    candidates: undefined,
    ...(queued ? { queued, problem: sentenceFor('no_gpu') } : { problem: undefined }),
  })
  const attempt = attempts.get(mark)
  const created = isRetrying(rental)
    ? `${attemptOf(attempt)} was created and is starting`
    : `Rented as #${instance}`
  context.activity.add(tryEntry(`${created}${queued ? ', waiting for a GPU' : ''}`, attempt))
  void context.poll()
}

/** Asks the user which instance is the try's. */
export async function letUserSay(
  { context, attempts }: Pick<CreationParts, 'context' | 'attempts'>,
  mark: string,
  candidates: readonly number[],
): Promise<void> {
  await attempts.update(mark, { step: 'unclear', candidates: [...candidates] })
  const { account, notifications } = context
  notifications.tell(account, [rentalAlert(account, attempts.get(mark))])
}

/** Destroys surplus instances with a try's mark: a second one, or one that appeared when it was no longer wanted. */
export async function destroySurplus(
  { endings }: Pick<AccountContext, 'endings'>,
  surplus: readonly number[],
  why = 'a duplicate from the same rental',
): Promise<void> {
  for (const instance of surplus)
    await endings.begin(instance, 'destroy', { kind: 'berth', text: `Destroyed #${instance}, ${why}` })
}

/** Destroys the try's instance, until that is seen. The user may have to identify it first. */
export async function undoAttempt(parts: CreationParts, mark: string): Promise<WorkDone> {
  const { context, attempts } = parts
  const { endings, quitting } = context
  if (attempts.get(mark).step === 'unclear') {
    await attempts.update(mark, { problem: sentenceFor('unclear_unwanted') })
    return 'done'
  }
  // The request to undo it may not have been on disk yet.
  await attempts.update(mark, { unwanted: true })
  const attempt = attempts.get(mark)
  const { instance } = attempt
  if (instance !== undefined && !isProven(attempt) && (await isAnothers(context, mark, instance))) {
    await attempts.update(mark, { step: 'lost', instance: undefined, problem: sentenceFor('not_new') })
    return { work: 'find' }
  }
  try {
    if (instance !== undefined) await endings.end(instance, 'destroy', { kind: 'berth', isTold: true })
  } catch (error) {
    if (quitting.aborted || isRefusal(error)) throw error
    await attempts.update(mark, { problem: problemOf(error) })
    return { work: 'undo', after: askAgainAfter }
  }
  if (quitting.aborted) return 'done'
  await endAttempt(parts, mark, 'cancelled')
  void context.poll()
  return 'done'
}

/** Whether an instance that the service named for a try plainly isn't its own, by its own record. */
async function isAnothers(
  { client, quitting }: Pick<AccountContext, 'client' | 'quitting'>,
  mark: string,
  instance: number,
): Promise<boolean> {
  try {
    const record = await askForOne(client(), instance, quitting)
    return typeof record === 'object' && !hidesMark(record) && markOf(record) !== mark
  } catch {
    // There is no key any more.
    return false
  }
}

/** Ends a try and records that in Activity. */
export async function endAttempt(
  { context, attempts, secrets }: CreationParts,
  mark: string,
  step: 'failed' | 'cancelled',
  problem?: Problem,
): Promise<void> {
  const { account, activity, notifications } = context
  // After a creation the secrets are deleted already, so its end is stored without a delay.
  const before = attempts.get(mark)
  const retries = isRetrying(before.rental)
  if (before.instance === undefined && !retries) await secrets.forget(before.rental).catch(() => undefined)
  await attempts.update(mark, { step, problem })
  const attempt = attempts.get(mark)
  // Its question is answered.
  if (before.candidates) notifications.withdraw(rentalAlertId(account, before.rental.id))
  if (retries) {
    if (step === 'cancelled') activity.add(tryEntry(`${attemptOf(attempt)} was cancelled`, attempt))
    // Its rental continues at the next poll.
    void context.poll()
    // An instance that exists, or existed, has its own alerts.
  } else if (step === 'failed' && attempt.instance === undefined)
    notifications.tell(account, [rentalAlert(account, attempt)])
  else activity.add(endEntry(attempt, context.endings.isDestroyed(attempt.instance ?? 0)))
}

function endEntry(attempt: RentalAttempt, isDestroyed: boolean): ReturnType<typeof tryEntry> {
  const { step, problem } = attempt
  if (isDestroyed && problem?.code === 'instance_gone')
    return tryEntry('Destroyed while it was starting', attempt, { kind: 'user' })
  if (step !== 'failed') return tryEntry('Rental cancelled', attempt, { kind: 'user' })
  const detail = problem?.message
  if (problem?.code === 'limit_acted')
    return tryEntry('Rented, and ended by its limit before it was seen ready', attempt, { detail })
  // It was rented at the requested bid, so nothing failed.
  if (problem?.code === 'outbid') return tryEntry('Rented, but outbid before it ran', attempt, { detail })
  return tryEntry('Renting failed', attempt, { kind: 'error', detail })
}
