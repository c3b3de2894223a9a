import type { AccountContext } from '../../account-context.ts'
import { same } from '../../state/same.ts'
import type { Collection } from '../../storage/collection.ts'
import type { Rental } from '../rentals/model.ts'
import type { RentalSecrets } from '../rentals/secrets.ts'
import type { Rentals } from '../rentals/service.ts'
import { type Move, observedAttempt } from './decide.ts'
import type { FailedMachines } from './failed-machines.ts'
import { type Attempt, costBy, type Drop, type Failover, openAttempt } from './model.ts'
import type { Instances } from './snapshots.ts'
import { notifyOfFailover, notifyOfSteps } from './tell.ts'

/** What the tries of failovers are made with. */
export interface AttemptParts {
  context: AccountContext
  failovers: Collection<Failover, string>
  rentals: Rentals
  rentalOf(id: string): Rental | undefined
  hosts: FailedMachines
  secrets: RentalSecrets
}

/** Takes over what rentals and the latest answer say of the tries. */
export async function followAttempts(
  { context, failovers, rentals, rentalOf }: AttemptParts,
  failover: Failover,
  instances: Instances,
): Promise<Failover> {
  const { id, attempts } = failover
  const unknown = rentals.owned(id).filter(rental => !attempts.some(one => one.rental === rental.id))
  const known: Attempt[] = [
    ...attempts,
    ...unknown.map(({ id: rental, offer, startedAt }) => ({ rental, offer, startedAt })),
  ]
  const followed = known.map(one => {
    const rental = one.cost === undefined ? rentalOf(one.rental) : undefined
    return rental ? observedAttempt(one, rental, instances[rental.instance ?? ''], context.now()) : one
  })
  if (same(attempts, followed)) return failover
  await failovers.update(id, { attempts: followed })
  const after = failovers.get(id)
  notifyOfSteps(context, after, attempts)
  return after
}

/** Writes down that the try under way is dropped. */
export async function dropAttempt(
  { context, failovers, hosts }: AttemptParts,
  failover: Failover,
  drop: Drop,
): Promise<void> {
  const current = openAttempt(failover)
  if (!current) return
  const { rental, offer, instance } = current
  await updateAttempt(failovers, failover.id, rental, { drop })
  const after = failovers.get(failover.id)
  if (drop.blame) await hosts.blame({ rental, offer, at: drop.at, why: drop.why.message })
  failovers.show()
  notifyOfFailover(context, {
    failover: after,
    text: `Dropped attempt ${failover.attempts.length} of ${failover.limits.attempts}`,
    problem: drop.why,
    instance,
  })
}

/** Writes down what a try that is gone has cost; false when the next one has to wait for the next poll. */
export async function closeAttempt(
  { context, failovers }: AttemptParts,
  failover: Failover,
  current: Attempt,
): Promise<boolean> {
  const at = context.now()
  await updateAttempt(failovers, failover.id, current.rental, { cost: costBy(current, at), endedAt: at })
  return current.instance !== undefined || current.drop?.why.code === 'offer_gone'
}

/** It has come to its end, which is told. */
export async function endFailover(
  parts: AttemptParts,
  failover: Failover,
  { step, problem, instance }: Omit<Extract<Move, { do: 'end' }>, 'do'>,
): Promise<void> {
  const { context, failovers, secrets } = parts
  const { id, request } = failover
  await secrets.forget({ id, request }).catch(() => undefined)
  const current = openAttempt(failover)
  const endedAt = context.now()
  // What goes on is no try any more, and its cost is its own.
  if (current && instance === undefined) await closeAttempt(parts, failover, current)
  await failovers.update(id, { step, problem, instance, endedAt })
  const after = failovers.get(id)
  void context.poll()
  if (step === 'cancelled') notifyOfFailover(context, { failover: after, text: 'Failover cancelled' })
  else
    notifyOfFailover(context, {
      failover: after,
      text: step === 'ready' ? `Ready on attempt ${after.attempts.length}` : 'Renting with failover failed',
      end: step,
      problem,
      instance,
    })
}

function updateAttempt(
  failovers: AttemptParts['failovers'],
  id: string,
  rental: string,
  fields: Partial<Attempt>,
): Promise<unknown> {
  return failovers.update(id, failover => ({
    ...failover,
    attempts: failover.attempts.map(each => (each.rental === rental ? { ...each, ...fields } : each)),
  }))
}
