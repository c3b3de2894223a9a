import type { InstanceView } from '../../../contract/instance/instance.ts'
import type { Problem } from '../../../contract/problem.ts'
import type { Micros } from '../../../contract/spending/money.ts'
import { needing } from '../../app/permission.ts'
import { problemOf } from '../../app/problems.ts'
import { looksUntilGone } from '../../instances/gone.ts'
import { same } from '../../state/same.ts'
import { searchNarrowed } from '../offers/find-offers.ts'
import { offerView } from '../offers/offer-view.ts'
import type { Rental } from '../rentals/rental.ts'
import type { RentalSecrets } from '../rentals/secrets.ts'
import { sentenceFor } from '../rentals/sentences.ts'
import type { FailoversContext, Instances } from './attempts.ts'
import type { FailoverBook } from './attempts-book.ts'
import { costBy, type Drop, type Failover, openTry, type Try } from './attempts-model.ts'
import { bestOffer } from './best-offer.ts'
import type { Move, Sight } from './next-move.ts'
import { nothingAsGood, sentences } from './sentences.ts'
import { tryName } from './wording.ts'

/** What is done to the tries of failovers, one move at a time. */
export interface Trials {
  /** Takes over what rentals and the latest answer say of the tries. */
  follow(failover: Failover, instances: Instances): Promise<Failover>
  sightOf(failover: Failover, instances: Instances): Sight
  rentalOf(id: string): Rental | undefined
  /** Counts how long instances are missing. */
  looked(instances: Instances, unconfirmed?: ReadonlySet<number>): void
  /** Finds the next offer and rents it; false when that has to wait for the next look. */
  rentNext(failover: Failover): Promise<boolean>
  /** Asks whether SSH answers; `heard` is called once that is known. */
  knock(failover: Failover, instances: Instances, heard: () => void): void
  drop(failover: Failover, drop: Drop): Promise<void>
  /** False when the next try has to wait for the next look. */
  settle(failover: Failover): Promise<boolean>
  end(failover: Failover, move: Extract<Move, { do: 'end' }>): Promise<void>
}

/** Milliseconds: a search over the whole market is a large answer. */
const searchTimeout = 45_000
/** Seconds of the account's time: while a guard holds a try back, the market is asked no more often. */
const marketForgottenAfter = 60

export function createTrials(context: FailoversContext, book: FailoverBook, secrets: RentalSecrets): Trials {
  const { rentals, hosts, client, ending, now, tell } = context
  /** What is known of SSH, and for how many looks an instance was missing, by rental. */
  const doors = new Map<string, Sight['ssh']>()
  const missing = new Map<string, number>()
  /** By failover: what a guard keeps from being rented, micro-dollars per hour, and when the market said so. */
  const held = new Map<string, { price: Micros; at: number }>()

  function rentalOf(id: string): Rental | undefined {
    return rentals.knows(id) ? rentals.rented(id) : undefined
  }

  /** The try as its rental and its instance show it now. */
  function seen(one: Try, rental: Rental, instances: Instances): Try {
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
    const { code } = book.existing(id).problem ?? {}
    if (ending.aborted) return false
    const failover = await book.update(id, { problem })
    if (code !== problem.code) tell({ failover, text, problem })
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
  function tellSteps(failover: Failover, before: readonly Try[]): void {
    for (const [index, one] of failover.tries.entries()) {
      const { rental, instance, runningAt, drop } = one
      const was = before.find(other => other.rental === rental)
      if (instance === undefined || drop) continue
      const say = (text: string) =>
        tell({ failover, text: `Try ${index + 1} of ${failover.limits.tries} ${text}`, instance })
      if (was?.instance === undefined) say('is created, and boots')
      if (was?.runningAt === undefined && runningAt !== undefined)
        say(failover.request.access === 'ssh' ? 'runs, and waits for SSH' : 'runs')
    }
  }

  const trials: Trials = {
    rentalOf,
    async follow(failover, instances) {
      const { id, tries } = failover
      const unknown = rentals.owned(id).filter(rental => !tries.some(one => one.rental === rental.id))
      const known: Try[] = [
        ...tries,
        ...unknown.map(({ id: rental, offer, startedAt }) => ({ rental, offer, startedAt })),
      ]
      const followed = known.map(one => {
        const rental = one.cost === undefined ? rentalOf(one.rental) : undefined
        return rental ? seen(one, rental, instances) : one
      })
      if (same(tries, followed)) return failover
      const after = await book.update(id, { tries: followed })
      tellSteps(after, tries)
      return after
    },
    sightOf(failover, instances) {
      const current = openTry(failover)
      const rental = current && rentalOf(current.rental)
      return {
        now: now(),
        stopper: rental?.instance === undefined ? undefined : context.stopperOf(rental.instance),
        rental,
        instance: instances[rental?.instance ?? ''],
        gone: (missing.get(current?.rental ?? '') ?? 0) >= looksUntilGone,
        ssh: doors.get(current?.rental ?? '') ?? 'unasked',
      }
    },
    looked(instances, unconfirmed) {
      for (const failover of book.all()) {
        const current = failover.step === 'trying' ? openTry(failover) : undefined
        if (current?.instance === undefined) continue
        if (unconfirmed?.has(current.instance)) continue
        const absent = instances[current.instance] ? 0 : (missing.get(current.rental) ?? 0) + 1
        missing.set(current.rental, absent)
      }
    },
    async rentNext({ id, search, limits }) {
      // The market is a large answer, not to be asked at every look for what is then not rented.
      const price = priceInMind(id)
      const before = context.heldBack(price)
      if (before) return waitsForGuard(id, before, price)
      held.delete(id)
      try {
        const asking = { timeout: searchTimeout, signal: ending }
        const found = await needing(
          'misc',
          searchNarrowed(client().offers, search.query, search.filter, asking),
        )
        const request = await secrets.restore({ id }, book.existing(id).request)
        const best = bestOffer(book.existing(id), found.map(offerView), hosts.view(), context.heldBack)
        const failover = book.existing(id)
        if (ending.aborted) return false
        if (failover.unwanted) return true
        const none =
          failover.replaces !== undefined
            ? nothingAsGood(failover.replaces, failover)
            : failover.tries.length === 0
              ? sentences.noneWithinReach
              : sentences.noOffers
        const problem = !best ? none : !request ? sentenceFor('secrets_lost') : undefined
        if (problem || !best || !request) {
          await trials.end(failover, { do: 'end', step: 'failed', ...(problem ? { problem } : {}) })
          return false
        }
        const { offer, bid, price } = best.choice
        if (best.holds) return waitsForGuard(id, best.holds, price)
        const wanted = { ...request, offer: offer.id, ...(bid === undefined ? {} : { bid }) }
        await rentals.rent(wanted, offer, { owned: { owner: id, deadline: limits.deadline }, search })
        const after = await book.update(id, { problem: undefined })
        const text = `Try ${after.tries.length + 1} of ${limits.tries}: ${tryName(offer)}`
        tell({ failover: after, text, detail: `Offer ${offer.id}` })
        return true
      } catch (error) {
        return waits(id, problemOf(error), 'Waits for the service')
      }
    },
    knock(failover, instances, heard) {
      const current = openTry(failover)
      const instance: InstanceView | undefined = instances[current?.instance ?? '']
      if (!current || !instance || doors.get(current.rental) === 'asking') return
      doors.set(current.rental, 'asking')
      const said = (answer: 'answered' | 'silent') => {
        doors.set(current.rental, answer)
        // One that is silent is asked again after the next look.
        if (answer === 'answered') heard()
      }
      context.knock(instance).then(
        () => said('answered'),
        () => said('silent'),
      )
    },
    async drop(failover, drop) {
      const current = openTry(failover)
      if (!current) return
      const after = await book.updateTry(failover.id, current.rental, { drop })
      const { rental, offer } = current
      if (drop.blame) await hosts.blame({ rental, offer, at: drop.at, why: drop.why.message })
      context.changed()
      const { instance } = current
      tell({
        failover: after,
        text: `Dropped try ${failover.tries.length} of ${failover.limits.tries}`,
        problem: drop.why,
        ...(instance === undefined ? {} : { instance }),
      })
    },
    async settle(failover) {
      const current = openTry(failover)
      if (!current) return true
      doors.delete(current.rental)
      missing.delete(current.rental)
      const at = now()
      await book.updateTry(failover.id, current.rental, { cost: costBy(current, at), endedAt: at })
      return current.instance !== undefined || current.drop?.why.code === 'offer_gone'
    },
    async end(failover, { step, problem, instance }) {
      const { id, request } = failover
      await secrets.forget({ id, request }).catch(() => undefined)
      const current = openTry(failover)
      const at = now()
      // What goes on is no try any more, and its cost is its own.
      if (current && instance === undefined)
        await book.updateTry(id, current.rental, { cost: costBy(current, at), endedAt: at })
      const after = await book.update(id, { step, problem, instance, endedAt: at })
      void context.poll()
      if (step === 'cancelled') tell({ failover: after, text: 'Failover cancelled' })
      else
        tell({
          failover: after,
          text: step === 'ready' ? `Ready on try ${after.tries.length}` : 'Renting with failover failed',
          end: step,
          ...(problem ? { problem } : {}),
          ...(instance === undefined ? {} : { instance }),
        })
    },
  }
  return trials
}
