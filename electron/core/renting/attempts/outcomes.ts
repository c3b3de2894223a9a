import type { AccountContext } from '#core/account-context.ts'
import { isDeepEqual } from '#core/state/same.ts'
import type { Collection } from '#core/storage/collection.ts'
import type { Rental } from '../rentals/model.ts'
import type { RentalSecrets } from '../rentals/secrets.ts'
import type { Rentals } from '../rentals/service.ts'
import { type AttemptMove, observedAttempt } from './decide.ts'
import type { FailedMachines } from './failed-machines.ts'
import { type Attempt, type AttemptSeries, attemptsCostBy, type Drop, openAttempt } from './model.ts'
import { notifyOfAttempts, notifyOfSteps } from './notify.ts'
import type { InstanceSnapshots } from './snapshots.ts'

/** What attempts work with. */
export interface AttemptParts {
  context: AccountContext
  attempts: Collection<AttemptSeries, string>
  rentals: Rentals
  rentalOf(id: string): Rental | undefined
  hosts: FailedMachines
  secrets: RentalSecrets
}

/** Updates attempts from their rentals and the latest poll. */
export async function followAttempts(
  { context, attempts, rentals, rentalOf }: AttemptParts,
  series: AttemptSeries,
  instances: InstanceSnapshots,
): Promise<AttemptSeries> {
  const { id, attempts: before } = series
  const unknown = rentals.owned(id).filter(rental => !before.some(one => one.rental === rental.id))
  const known: Attempt[] = [
    ...before,
    ...unknown.map(({ id: rental, offer, startedAt }) => ({ rental, offer, startedAt })),
  ]
  const followed = known.map(one => {
    const rental = one.cost === undefined ? rentalOf(one.rental) : undefined
    return rental ? observedAttempt(one, rental, instances[rental.instance ?? ''], context.now()) : one
  })
  if (isDeepEqual(before, followed)) return series
  await attempts.update(id, { attempts: followed })
  const after = attempts.get(id)
  notifyOfSteps(context, after, before)
  return after
}

/** Stores that the present attempt is dropped. */
export async function dropAttempt(
  { context, attempts, hosts }: AttemptParts,
  series: AttemptSeries,
  drop: Drop,
): Promise<void> {
  const current = openAttempt(series)
  if (!current) return
  const { rental, offer, instance } = current
  await attempts.update(series.id, withAttempt(rental, { drop }))
  const after = attempts.get(series.id)
  if (drop.blame) await hosts.blame({ rental, offer, at: drop.at, why: drop.why.message })
  attempts.show()
  notifyOfAttempts(context, {
    series: after,
    text: `Dropped attempt ${series.attempts.length} of ${series.limits.attempts}`,
    problem: drop.why,
    instance,
  })
}

/** Stores the final cost of an attempt; false when the next one has to wait for a poll. */
export async function closeAttempt(
  { context, attempts }: AttemptParts,
  series: AttemptSeries,
  current: Attempt,
): Promise<boolean> {
  const at = context.now()
  await attempts.update(series.id, withAttempt(current.rental, closed(current, at)))
  return current.instance !== undefined || current.drop?.why.code === 'offer_gone'
}

/** Ends a series and reports that. */
export async function endSeries(
  parts: AttemptParts,
  series: AttemptSeries,
  { step, problem, instance }: Omit<Extract<AttemptMove, { do: 'end' }>, 'do'>,
): Promise<void> {
  const { context, attempts, secrets } = parts
  const { id, request } = series
  await secrets.forget({ id, request }).catch(() => undefined)
  const current = openAttempt(series)
  const endedAt = context.now()
  // An instance that is kept is no longer an attempt, and its cost is its own.
  const closes = current && instance === undefined
  const close = closes ? withAttempt(current.rental, closed(current, endedAt)) : (same: AttemptSeries) => same
  // At once, since after a kill in between another machine would be tried.
  await attempts.update(id, now => ({ ...close(now), step, problem, instance, endedAt }))
  const after = attempts.get(id)
  void context.poll()
  if (step === 'cancelled') notifyOfAttempts(context, { series: after, text: 'Attempts cancelled' })
  else
    notifyOfAttempts(context, {
      series: after,
      text: step === 'ready' ? `Ready on attempt ${after.attempts.length}` : 'Renting with failover failed',
      end: step,
      problem,
      instance,
    })
}

/** What an attempt that is over gets. */
function closed(attempt: Attempt, at: number): Partial<Attempt> {
  return { cost: attemptsCostBy(attempt, at), endedAt: at }
}

function withAttempt(rental: string, fields: Partial<Attempt>): (series: AttemptSeries) => AttemptSeries {
  return series => ({
    ...series,
    attempts: series.attempts.map(each => (each.rental === rental ? { ...each, ...fields } : each)),
  })
}
