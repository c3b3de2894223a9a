import type { AccountContext } from '#core/account-context.ts'
import { problemOf } from '#core/bridge/problems.ts'
import { replacedBy } from '#core/instances/mark.ts'
import { isRefusal } from '#core/instances/poll-account.ts'
import type { Limits } from '#core/limits/service.ts'
import type { RequestSecrets } from '#core/market/request-secrets.ts'
import { sleep } from '#platform/tasks.ts'
import type { Limit } from '#shared/automation/limit.ts'
import type { RentRequest } from '#shared/market/rent-request.ts'
import type { Problem } from '#shared/problem.ts'
import type { Micros } from '#shared/spending/money.ts'
import { isRetrying, stopsLeftOf, type Tried, type Tries } from './rental.ts'
import { rentalAlert, sentenceFor, tryEntry, tryOf } from './words.ts'

/** Dependencies for creating instances. */
export interface CreationParts {
  context: AccountContext
  tries: Tries
  secrets: RequestSecrets
  hooks: InstanceHooks
}

/** Callbacks for a new instance. */
export interface InstanceHooks {
  /** Called with each instance, and its own key if it has one. */
  onCreated(instance: number, instanceKey: string | undefined): void
  /** Sets the limits that were chosen with the rental. */
  limit: Limits['limitRental']
  /** The request as it is sent: with a watchdog in its start script, for limits that also count in a sleep. */
  prepared: (request: RentRequest, terms: { stops: readonly Limit[]; price?: Micros }) => Promise<RentRequest>
}

/** Milliseconds until an unanswered request is repeated. */
export const askAgainAfter = 5000

/**
 * Assigns an instance to a try. Secrets that no other try needs are deleted first: after a kill, the mark finds it, and
 * none is left.
 */
export async function adoptInstance(
  { context, tries, secrets, hooks }: CreationParts,
  mark: string,
  instance: number,
  {
    instanceKey,
    guessed = false,
    queued,
  }: { instanceKey?: string; guessed?: boolean; queued?: boolean } = {},
): Promise<void> {
  const { rental } = tries.get(mark)
  const { request } = rental
  if (!isRetrying(rental)) await secrets.forget(rental).catch(() => undefined)
  const { unwanted } = tries.get(mark)
  if (guessed && unwanted) return letUserSay({ context, tries }, mark, [instance])
  // First, as the service reports the instance's own key only this once.
  hooks.onCreated(instance, instanceKey)
  // Before the try knows its instance, so that after a kill it is found again, with its limits.
  if (!unwanted) {
    await hooks.limit(mark, instance, stopsLeftOf(rental), replacedBy(request))
  }
  await tries.update(mark, {
    step: 'waiting',
    instance,
    createdAt: context.now(),
    candidates: undefined,
    ...(queued ? { queued, problem: sentenceFor('no_gpu') } : { problem: undefined }),
  })
  const tried = tries.get(mark)
  const created = isRetrying(rental)
    ? `${tryOf(tried)} was created and is starting`
    : `Rented as #${instance}`
  context.activity.add(tryEntry(`${created}${queued ? ', waiting for a GPU' : ''}`, tried))
  void context.poll()
}

/** Asks the user which instance is the try's. */
export async function letUserSay(
  { context, tries }: Pick<CreationParts, 'context' | 'tries'>,
  mark: string,
  candidates: readonly number[],
): Promise<void> {
  await tries.update(mark, { step: 'unclear', candidates: [...candidates] })
  const { account, notifications } = context
  notifications.tell(account, [rentalAlert(account, tries.get(mark))])
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
export async function undoTry(parts: CreationParts, mark: string): Promise<void> {
  const { context, tries } = parts
  const { endings, ending } = context
  if (tries.get(mark).step === 'unclear') {
    await tries.update(mark, { problem: sentenceFor('unclear_unwanted') })
    return
  }
  // The request to undo it may not have been on disk yet.
  await tries.update(mark, { unwanted: true })
  for (;;) {
    const { instance } = tries.get(mark)
    if (instance === undefined) break
    try {
      await endings.end(instance, 'destroy', { kind: 'berth' })
      break
    } catch (error) {
      if (ending.aborted) return
      if (isRefusal(error)) throw error
      await tries.update(mark, { problem: problemOf(error) })
      await waitFor(context, askAgainAfter)
    }
  }
  if (ending.aborted) return
  await endTry(parts, mark, 'cancelled')
  void context.poll()
}

/** Ends a try and records that in Activity. */
export async function endTry(
  { context, tries, secrets }: CreationParts,
  mark: string,
  step: 'failed' | 'cancelled',
  problem?: Problem,
): Promise<void> {
  const { account, activity, notifications } = context
  // After a creation the secrets are deleted already, so its end is stored without a delay.
  const before = tries.get(mark)
  const retries = isRetrying(before.rental)
  if (before.instance === undefined && !retries) await secrets.forget(before.rental).catch(() => undefined)
  await tries.update(mark, { step, problem })
  const tried = tries.get(mark)
  if (retries) {
    if (step === 'cancelled') activity.add(tryEntry(`${tryOf(tried)} was cancelled`, tried))
    // Its rental continues at the next poll.
    void context.poll()
    // An instance that exists, or existed, has its own alerts.
  } else if (step === 'failed' && tried.instance === undefined)
    notifications.tell(account, [rentalAlert(account, tried)])
  else activity.add(endEntry(tried, context.endings.isDestroyed(tried.instance ?? 0)))
}

function endEntry(tried: Tried, isDestroyed: boolean): ReturnType<typeof tryEntry> {
  const { step, problem } = tried
  if (isDestroyed && problem?.code === 'instance_gone')
    return tryEntry('Destroyed while it was starting', tried, { kind: 'user' })
  if (step !== 'failed') return tryEntry('Rental cancelled', tried, { kind: 'user' })
  const detail = problem?.message
  // It was rented at the requested bid, so nothing failed.
  if (problem?.code === 'outbid') return tryEntry('Rented, but outbid before it ran', tried, { detail })
  return tryEntry('Renting failed', tried, { kind: 'error', detail })
}

/** Waits that many milliseconds, or until Berth ends. */
export function waitFor({ machine, ending }: AccountContext, milliseconds: number): Promise<void> {
  return sleep(machine.clock, milliseconds, ending).catch(() => undefined)
}
