import type { InstanceView } from '../../../contract/instance/instance.ts'
import type { Problem } from '../../../contract/problem.ts'
import type { Micros } from '../../../contract/spending/money.ts'
import type { AccountContext } from '../../account-context.ts'
import { needing } from '../../app/permission.ts'
import { problemOf } from '../../app/problems.ts'
import { stopperOf as guardThatStops, guardVeto, stoppedBy } from '../../guards/guard-veto.ts'
import type { StoredGuards } from '../../guards/stored-guards.ts'
import { pollsUntilGone } from '../../instances/missing-instances.ts'
import { same } from '../../state/same.ts'
import type { Collection } from '../../storage/collection.ts'
import { searchNarrowed } from '../offers/find-offers.ts'
import { offerView } from '../offers/offer-view.ts'
import type { Rental } from '../rentals/model.ts'
import type { RentalSecrets } from '../rentals/secrets.ts'
import type { Rentals } from '../rentals/service.ts'
import { sentenceFor } from '../rentals/words.ts'
import { bestOffer } from './best-offer.ts'
import type { Move, Snapshot, Stopper } from './decide.ts'
import type { FailedMachines } from './failed-machines.ts'
import { type Attempt, costBy, type Drop, type Failover, openAttempt } from './model.ts'
import { notifyOfFailover } from './tell.ts'
import { attemptName, nothingAsGood, sentences } from './words.ts'

/** What a fresh answer showed of the instances. */
type Instances = Readonly<Record<string, InstanceView>>

/** What is done to the tries of failovers, one move at a time. */
export interface AttemptWorker {
  /** Takes over what rentals and the latest answer say of the tries. */
  follow(failover: Failover, instances: Instances): Promise<Failover>
  snapshotOf(failover: Failover, instances: Instances): Snapshot
  rentalOf(id: string): Rental | undefined
  /** Counts how long instances are missing. */
  onPoll(instances: Instances, unconfirmed?: ReadonlySet<number>): void
  /** Finds the next offer and rents it; false when that has to wait for the next look. */
  rentNext(failover: Failover): Promise<boolean>
  /** Asks whether SSH answers; `heard` is called once that is known. */
  probeSsh(failover: Failover, instances: Instances, heard: () => void): void
  drop(failover: Failover, drop: Drop): Promise<void>
  /** False when the next try has to wait for the next look. */
  settle(failover: Failover): Promise<boolean>
  end(failover: Failover, move: Extract<Move, { do: 'end' }>): Promise<void>
}

/** Milliseconds: a search over the whole market is a large answer. */
const searchTimeout = 45_000
/** Seconds of the account's time: while a guard holds a try back, the market is asked no more often. */
const marketForgottenAfter = 60

/** What it works on besides the account. */
interface AttemptParts {
  failovers: Collection<Failover, string>
  rentals: Rentals
  hosts: FailedMachines
  guards: Pick<StoredGuards, 'actedOn'>
  secrets: RentalSecrets
}

export function createAttemptWorker(
  context: AccountContext,
  { failovers, rentals, hosts, guards, secrets }: AttemptParts,
): AttemptWorker {
  const { account, store, client, ending, now } = context
  /** What is known of SSH, and for how many looks an instance was missing, by rental. */
  const doors = new Map<string, Snapshot['ssh']>()
  const missing = new Map<string, number>()
  /** By failover: what a guard keeps from being rented, micro-dollars per hour, and when the market said so. */
  const held = new Map<string, { price: Micros; at: number }>()

  /** Why a guard keeps something at so many micro-dollars per hour more from being rented now. */
  function vetoFor(more: Micros): Problem | undefined {
    return guardVeto(store.get().accounts[account], { more }, now())
  }

  /** The guard that has stopped an instance, or stops it at the next poll. */
  function stopperOf(instance: number): Stopper | undefined {
    const guard = guards.actedOn(instance) ?? guardThatStops(store.get().accounts[account], instance, now())
    return guard && { why: stoppedBy(guard), alone: guard.instance !== undefined }
  }

  function updateAttempt(id: string, rental: string, fields: Partial<Attempt>): Promise<unknown> {
    return failovers.update(id, failover => ({
      ...failover,
      attempts: failover.attempts.map(each => (each.rental === rental ? { ...each, ...fields } : each)),
    }))
  }

  function rentalOf(id: string): Rental | undefined {
    return rentals.knows(id) ? rentals.rented(id) : undefined
  }

  /** The try as its rental and its instance show it now. */
  function seen(one: Attempt, rental: Rental, instances: Instances): Attempt {
    const instance = instances[rental.instance ?? '']
    const runningAt = one.runningAt ?? (instance?.state === 'running' ? now() : undefined)
    return {
      ...one,
      ...(rental.instance === undefined ? {} : { instance: rental.instance }),
      ...(instance ? { spent: instance.spent } : {}),
      // A clock that was set back must not keep it waiting.
      ...(runningAt === undefined ? {} : { runningAt: Math.min(runningAt, now()) }),
    }
  }

  /** What has to wait is told with the failover, once in Activity, and tried again at the next look. */
  async function waits(id: string, problem: Problem, text: string): Promise<false> {
    const { code } = failovers.get(id).problem ?? {}
    if (ending.aborted) return false
    await failovers.update(id, { problem })
    const failover = failovers.get(id)
    if (code !== problem.code) notifyOfFailover(context, { failover, text, problem })
    return false
  }

  function waitsForGuard(id: string, problem: Problem, price: Micros): Promise<false> {
    held.set(id, { price, at: held.get(id)?.at ?? now() })
    return waits(id, problem, 'Nothing is rented for now')
  }

  /** What it would pay, as long as that is not so old that something cheaper may be there. */
  function priceInMind(id: string): Micros {
    const last = held.get(id)
    if (last && Math.abs(now() - last.at) < marketForgottenAfter) return last.price
    held.delete(id)
    return 0
  }

  /** What a try has come to since the last look. */
  function tellSteps(failover: Failover, before: readonly Attempt[]): void {
    for (const [index, one] of failover.attempts.entries()) {
      const { rental, instance, runningAt, drop } = one
      const was = before.find(other => other.rental === rental)
      if (instance === undefined || drop) continue
      const say = (text: string) =>
        notifyOfFailover(context, {
          failover,
          text: `Attempt ${index + 1} of ${failover.limits.attempts} ${text}`,
          instance,
        })
      if (was?.instance === undefined) say('is created, and boots')
      if (was?.runningAt === undefined && runningAt !== undefined)
        say(failover.request.access === 'ssh' ? 'runs, and waits for SSH' : 'runs')
    }
  }

  const worker: AttemptWorker = {
    rentalOf,
    async follow(failover, instances) {
      const { id, attempts } = failover
      const unknown = rentals.owned(id).filter(rental => !attempts.some(one => one.rental === rental.id))
      const known: Attempt[] = [
        ...attempts,
        ...unknown.map(({ id: rental, offer, startedAt }) => ({ rental, offer, startedAt })),
      ]
      const followed = known.map(one => {
        const rental = one.cost === undefined ? rentalOf(one.rental) : undefined
        return rental ? seen(one, rental, instances) : one
      })
      if (same(attempts, followed)) return failover
      await failovers.update(id, { attempts: followed })
      const after = failovers.get(id)
      tellSteps(after, attempts)
      return after
    },
    snapshotOf(failover, instances) {
      const current = openAttempt(failover)
      const rental = current && rentalOf(current.rental)
      return {
        now: now(),
        stopper: rental?.instance === undefined ? undefined : stopperOf(rental.instance),
        rental,
        instance: instances[rental?.instance ?? ''],
        gone: (missing.get(current?.rental ?? '') ?? 0) >= pollsUntilGone,
        ssh: doors.get(current?.rental ?? '') ?? 'unasked',
      }
    },
    onPoll(instances, unconfirmed) {
      for (const failover of failovers.all()) {
        const current = failover.step === 'trying' ? openAttempt(failover) : undefined
        if (current?.instance === undefined) continue
        if (unconfirmed?.has(current.instance)) continue
        const absent = instances[current.instance] ? 0 : (missing.get(current.rental) ?? 0) + 1
        missing.set(current.rental, absent)
      }
    },
    async rentNext({ id, search, limits }) {
      // The market is a large answer, not to be asked at every look for what is then not rented.
      const price = priceInMind(id)
      const before = vetoFor(price)
      if (before) return waitsForGuard(id, before, price)
      held.delete(id)
      try {
        const asking = { timeout: searchTimeout, signal: ending }
        const found = await needing(
          'misc',
          searchNarrowed(client().offers, search.query, search.filter, asking),
        )
        const request = await secrets.restore({ id }, failovers.get(id).request)
        const best = bestOffer(failovers.get(id), found.map(offerView), hosts.view(), vetoFor)
        const failover = failovers.get(id)
        if (ending.aborted) return false
        if (failover.unwanted) return true
        const none =
          failover.replaces !== undefined
            ? nothingAsGood(failover.replaces, failover)
            : failover.attempts.length === 0
              ? sentences.noneWithinReach
              : sentences.noOffers
        const problem = !best ? none : !request ? sentenceFor('secrets_lost') : undefined
        if (problem || !best || !request) {
          await worker.end(failover, { do: 'end', step: 'failed', problem })
          return false
        }
        const { offer, bid, price } = best.choice
        if (best.holds) return waitsForGuard(id, best.holds, price)
        const wanted = { ...request, offer: offer.id, ...(bid === undefined ? {} : { bid }) }
        await rentals.rent(wanted, offer, { owned: { owner: id, deadline: limits.deadline }, search })
        await failovers.update(id, { problem: undefined })
        const after = failovers.get(id)
        const text = `Attempt ${after.attempts.length + 1} of ${limits.attempts}: ${attemptName(offer)}`
        notifyOfFailover(context, { failover: after, text, detail: `Offer ${offer.id}` })
        return true
      } catch (error) {
        return waits(id, problemOf(error), 'Waits for the service')
      }
    },
    probeSsh(failover, instances, heard) {
      const current = openAttempt(failover)
      const instance: InstanceView | undefined = instances[current?.instance ?? '']
      if (!current || !instance || doors.get(current.rental) === 'asking') return
      doors.set(current.rental, 'asking')
      const said = (answer: 'answered' | 'silent') => {
        doors.set(current.rental, answer)
        // One that is silent is asked again after the next look.
        if (answer === 'answered') heard()
      }
      context.access.probe({ account, instance, client: client() }).then(
        () => said('answered'),
        () => said('silent'),
      )
    },
    async drop(failover, drop) {
      const current = openAttempt(failover)
      if (!current) return
      await updateAttempt(failover.id, current.rental, { drop })
      const after = failovers.get(failover.id)
      const { rental, offer } = current
      if (drop.blame) await hosts.blame({ rental, offer, at: drop.at, why: drop.why.message })
      failovers.show()
      const { instance } = current
      notifyOfFailover(context, {
        failover: after,
        text: `Dropped attempt ${failover.attempts.length} of ${failover.limits.attempts}`,
        problem: drop.why,
        instance,
      })
    },
    async settle(failover) {
      const current = openAttempt(failover)
      if (!current) return true
      doors.delete(current.rental)
      missing.delete(current.rental)
      const at = now()
      await updateAttempt(failover.id, current.rental, { cost: costBy(current, at), endedAt: at })
      return current.instance !== undefined || current.drop?.why.code === 'offer_gone'
    },
    async end(failover, { step, problem, instance }) {
      const { id, request } = failover
      await secrets.forget({ id, request }).catch(() => undefined)
      const current = openAttempt(failover)
      const at = now()
      // What goes on is no try any more, and its cost is its own.
      if (current && instance === undefined)
        await updateAttempt(id, current.rental, { cost: costBy(current, at), endedAt: at })
      await failovers.update(id, { step, problem, instance, endedAt: at })
      const after = failovers.get(id)
      void context.poll()
      if (step === 'cancelled') notifyOfFailover(context, { failover: after, text: 'Failover cancelled' })
      else
        notifyOfFailover(context, {
          failover: after,
          text:
            step === 'ready' ? `Ready on attempt ${after.attempts.length}` : 'Renting with failover failed',
          end: step,
          problem,
          instance,
        })
    },
  }
  return worker
}
