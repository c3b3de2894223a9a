import type { Problem } from '#contract/problem.ts'
import type { AccountContext } from '#core/account-context.ts'
import { endInstance } from '#core/actions/end-instance.ts'
import { problemOf } from '#core/app/problems.ts'
import { replacedBy } from '#core/instances/mark.ts'
import { isRefusal } from '#core/instances/polling/poll.ts'
import type { Limits } from '#core/limits/service.ts'
import type { Watchdogs } from '#core/limits/watchdog.ts'
import type { Rental } from '../model.ts'
import type { RentalSecrets } from '../secrets.ts'
import type { StoredRentals } from '../stored-rentals.ts'
import { rentalAlert, rentalEntry, sentenceFor } from '../words.ts'

/** What creating rentals works with. */
export interface RentalParts {
  context: AccountContext
  rentals: StoredRentals
  secrets: RentalSecrets
  hooks: InstanceHooks
}

/** Callbacks for a new instance. */
export interface InstanceHooks {
  /** Called with each instance, and its own key if it has one. */
  onCreated(instance: number, instanceKey: string | undefined): void
  /** Sets the limits that were chosen with the rental. */
  limit: Limits['limitRental']
  /** Installs the watchdog that was chosen with the rental, once the instance can be reached. */
  watch: Watchdogs['putSoon']
}

/** Milliseconds until an unanswered request is repeated. */
export const askAgainAfter = 5000

/** Assigns an instance to a rental. Secrets are deleted first: after a kill, the mark finds it, and none is left. */
export async function adoptInstance(
  { context, rentals, secrets, hooks }: RentalParts,
  id: string,
  instance: number,
  {
    instanceKey,
    guessed = false,
    queued,
  }: { instanceKey?: string; guessed?: boolean; queued?: boolean } = {},
): Promise<void> {
  await secrets.forget(rentals.get(id)).catch(() => undefined)
  const { request, unwanted } = rentals.get(id)
  if (guessed && unwanted) return letUserSay({ context, rentals }, id, [instance])
  // First, since the service tells the instance's own key this once.
  hooks.onCreated(instance, instanceKey)
  // Before the rental knows its instance, so that after a kill it is found again, with its limits.
  if (!unwanted) {
    await hooks.limit(id, instance, request.stops ?? [], replacedBy(request))
    if (request.watchdog) await hooks.watch(instance, request.watchdog)
  }
  await rentals.update(id, {
    step: 'waiting',
    instance,
    createdAt: context.now(),
    candidates: undefined,
    ...(queued ? { queued, problem: sentenceFor('no_gpu') } : { problem: undefined }),
  })
  const does = queued ? ', which waits for a GPU' : ''
  context.activity.add(rentalEntry(`Rented as #${instance}${does}`, rentals.get(id)))
  void context.poll()
}

/** Asks the user which instance is the rental's. */
export async function letUserSay(
  { context, rentals }: Pick<RentalParts, 'context' | 'rentals'>,
  id: string,
  candidates: readonly number[],
): Promise<void> {
  await rentals.update(id, { step: 'unclear', candidates: [...candidates] })
  const { account, notifications } = context
  notifications.tell(account, [rentalAlert(account, rentals.get(id))])
}

/**
 * Destroys surplus instances with a rental's mark: a second one, or one that appeared when it was no longer wanted.
 * Failures are repeated at the next poll.
 */
export async function destroySurplus(
  { client, ending, activity }: AccountContext,
  surplus: readonly number[],
  rental: Rental,
  why = 'which the same rental had created a second time',
): Promise<void> {
  for (const instance of surplus) {
    try {
      await client().instances.destroy(instance, { signal: ending })
    } catch {
      continue
    }
    activity.add(rentalEntry(`Destroyed #${instance}, ${why}`, rental))
  }
}

/** Destroys what the rental created, retrying until there is an answer. The user may have to say which it is first. */
export async function undoRental(parts: RentalParts, id: string): Promise<void> {
  const { context, rentals } = parts
  const { client, ending } = context
  if (rentals.get(id).step === 'unclear') {
    await rentals.update(id, { problem: sentenceFor('unclear_unwanted') })
    return
  }
  // The request to undo it may not have been on disk yet.
  await rentals.update(id, { unwanted: true })
  for (;;) {
    const { instance } = rentals.get(id)
    if (instance === undefined) break
    try {
      await endInstance(client(), instance, 'destroy', ending)
      break
    } catch (error) {
      if (ending.aborted) return
      if (isRefusal(error)) throw error
      await rentals.update(id, { problem: problemOf(error) })
      await sleep(context, askAgainAfter)
    }
  }
  if (ending.aborted) return
  await endRental(parts, id, 'cancelled')
  void context.poll()
}

/** Ends a rental and records that in Activity. */
export async function endRental(
  { context, rentals, secrets }: RentalParts,
  id: string,
  step: 'failed' | 'cancelled',
  problem?: Problem,
): Promise<void> {
  // After a creation the secrets are deleted already, so its end is stored without a delay.
  const before = rentals.get(id)
  if (before.instance === undefined) await secrets.forget(before).catch(() => undefined)
  await rentals.update(id, { step, problem })
  const rental = rentals.get(id)
  const { account, activity, notifications } = context
  // Of an instance that is there, or was, its own alerts tell; of an attempt, its series.
  const isTold = rental.instance !== undefined || rental.owner !== undefined
  if (step === 'failed' && !isTold) notifications.tell(account, [rentalAlert(account, rental)])
  else activity.add(endEntry(rental))
  // Its series continues at the next poll.
  if (rental.owner !== undefined) void context.poll()
}

function endEntry(rental: Rental): ReturnType<typeof rentalEntry> {
  const { step, owner, problem } = rental
  if (step === 'failed') {
    const detail = problem?.message
    // It was rented at the requested bid, so nothing failed.
    if (problem?.code === 'outbid') return rentalEntry('Rented, but outbid before it ran', rental, { detail })
    return rentalEntry('Renting failed', rental, { kind: 'error', detail })
  }
  if (owner === undefined) return rentalEntry('Rental cancelled', rental, { kind: 'user' })
  return rentalEntry('An attempt was taken back', rental)
}

/** Waits that many milliseconds, or until Berth ends. */
export function sleep({ machine, ending }: AccountContext, milliseconds: number): Promise<void> {
  return new Promise<void>(resolve => {
    const cancel = machine.clock.after(milliseconds, done)
    function done(): void {
      cancel()
      ending.removeEventListener('abort', done)
      resolve()
    }
    ending.addEventListener('abort', done)
  })
}
