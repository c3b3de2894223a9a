import type { Problem } from '../../../../contract/problem.ts'
import type { AccountContext } from '../../../account-context.ts'
import { endInstance } from '../../../actions/end-instance.ts'
import { problemOf } from '../../../app/problems.ts'
import type { Guards } from '../../../guards/service.ts'
import { isRefusal } from '../../../instances/polling/poll.ts'
import type { Rental } from '../model.ts'
import type { RentalSecrets } from '../secrets.ts'
import type { StoredRentals } from '../stored-rentals.ts'
import { rentalEntry, sentenceFor } from '../words.ts'

/** What rentals are brought to an instance with, or to nothing at all. */
export interface RentalParts {
  context: AccountContext
  rentals: StoredRentals
  secrets: RentalSecrets
  hooks: InstanceHooks
}

/** What follows as soon as there is an instance. */
export interface InstanceHooks {
  /** Hears of each, and of its own key where it has one. */
  onCreated(instance: number, instanceKey: string | undefined): void
  /** Guards it as was chosen with its rental. */
  guard: Guards['guardRental']
}

/** Milliseconds until a request that was not answered is repeated. */
export const askAgainAfter = 5000

/** The instance is the rental's. Secrets go first: killed in between, it is found by its mark, and no secret stays behind. */
export async function adoptInstance(
  { context, rentals, secrets, hooks }: RentalParts,
  id: string,
  instance: number,
  { instanceKey, guessed = false }: { instanceKey?: string; guessed?: boolean } = {},
): Promise<void> {
  await secrets.forget(rentals.get(id)).catch(() => undefined)
  const { request, unwanted } = rentals.get(id)
  if (guessed && unwanted) return letUserSay({ context, rentals }, id, [instance])
  // Before the rental knows it: a kill in between has it found, and guarded, again.
  if (!unwanted) await hooks.guard(id, instance, request.stops ?? [])
  await rentals.update(id, {
    step: 'waiting',
    instance,
    createdAt: context.now(),
    candidates: undefined,
    problem: undefined,
  })
  context.activity.add(rentalEntry(`Rented as #${instance}`, rentals.get(id)))
  hooks.onCreated(instance, instanceKey)
  void context.poll()
}

/** Which instance is the rental's is for the user to say. */
export async function letUserSay(
  { context, rentals }: Pick<RentalParts, 'context' | 'rentals'>,
  id: string,
  candidates: readonly number[],
): Promise<void> {
  await rentals.update(id, { step: 'unclear', candidates: [...candidates] })
  context.activity.add(rentalEntry('Which instance belongs to this rental is not clear', rentals.get(id)))
}

/**
 * Destroys more instances with a mark than were wanted: one too many, or one that came when none was wanted any more.
 * What cannot be destroyed now is seen again at the next poll.
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

/** Destroys what the rental created, trying until the service answers; the user may first have to say which one it is. */
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

/** Ends it and records that in Activity. */
export async function endRental(
  { context, rentals, secrets }: RentalParts,
  id: string,
  step: 'failed' | 'cancelled',
  problem?: Problem,
): Promise<void> {
  // What was created had its secrets forgotten then; its end is noted at once, so that nothing comes in between.
  const before = rentals.get(id)
  if (before.instance === undefined) await secrets.forget(before).catch(() => undefined)
  await rentals.update(id, { step, problem })
  const rental = rentals.get(id)
  context.activity.add(endEntry(rental))
  // Its series goes on with the next one at the next poll.
  if (rental.owner !== undefined) void context.poll()
}

function endEntry(rental: Rental): ReturnType<typeof rentalEntry> {
  const { step, owner, problem } = rental
  if (step === 'failed') {
    const detail = problem?.message
    // It is rented at the bid that was asked for: nothing failed.
    if (problem?.code === 'outbid') return rentalEntry('Rented, but outbid before it ran', rental, { detail })
    return rentalEntry('Renting failed', rental, { kind: 'error', detail })
  }
  if (owner === undefined) return rentalEntry('Rental cancelled', rental, { kind: 'user' })
  return rentalEntry('An attempt was taken back', rental)
}

/** Waits for so many milliseconds, or until Berth ends. */
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
