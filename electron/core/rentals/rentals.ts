import type { AccountId } from '../../contract/ids.ts'
import type { InstanceView } from '../../contract/instance.ts'
import type { OfferView } from '../../contract/offer.ts'
import { BerthError } from '../../contract/problem.ts'
import type { RentalView, RentRequest } from '../../contract/rental.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Keychain } from '../../ports/keychain.ts'
import type { ServiceClient } from '../../service/client.ts'
import type { Instance } from '../../service/instances.ts'
import { ServiceError } from '../../service/service-error.ts'
import { problemOf } from '../problems.ts'
import type { Document } from '../remember/document.ts'
import { same } from '../same.ts'
import { type Finding, findLost } from './find-lost.ts'
import { isUnderWay, nextStep, type Rental } from './rental.ts'
import { requestBody } from './request-body.ts'
import { rentalSecrets, withoutSecrets } from './secrets.ts'
import { sentenceFor } from './sentences.ts'

/** What the rentals of one account need of their surroundings. */
export interface RentalsSurroundings {
  account: AccountId
  document: Document<Rental[]>
  client(): ServiceClient
  clock: Clock
  keychain: Keychain
  /** The account's time, epoch seconds. */
  now(): number
  /** Ids of the instances in the last answer. */
  knownInstances(): readonly number[]
  /** Seconds a rental may take. */
  deadline(): number
  /** Sixteen hexadecimal digits that were never used before. */
  newId(): string
  /** The rentals have changed. */
  changed(): void
  /** Looks at the account at once. */
  look(): void
  created(instance: number, instanceKey: string | undefined): void
  tell(text: string, rental: Rental, problem?: { message: string }): void
}

/**
 * The rentals of one account. A wish is on disk before its request leaves, and carries a mark; when the answer is
 * lost, Berth looks at the account before it asks again. A rental never rents twice.
 */
export interface Rentals {
  /** Resolves with the rental's id once it is on disk; it goes on by itself. */
  rent(request: RentRequest, offer: OfferView | undefined): Promise<string>
  /** Ends it; what it has created is destroyed. */
  cancel(id: string): Promise<void>
  waitLonger(id: string): Promise<void>
  /** The user said which instance is the one, or that none is. */
  settle(id: string, instance: number | null): Promise<void>
  dismiss(id: string): Promise<void>
  /** What a fresh look at the account means to the rentals under way. */
  looked(instances: Readonly<Record<string, InstanceView>>, records: readonly Instance[]): void
  /** Goes on with what an earlier session left under way. */
  resume(): void
  view(): Record<string, RentalView>
  /** How an instance was rented, secrets left out. */
  requestOf(instance: number): RentRequest | undefined
  stop(): void
}

/** Milliseconds between looks for a lost answer; when all have found nothing, nothing was created. */
const looksAfter = [500, 1500, 3000, 5000]
/** Milliseconds until an account that does not answer is looked at again. */
const lookAgainAfter = 5000
/** How often the service is asked for one wish at the most. */
const mostAsked = 3
/** Looks without the instance until it counts as gone: the first may have begun before it was created. */
const looksUntilGone = 2
/** Rentals remembered after their end, for renting again. */
const mostEnded = 200

/** Asking, looking for what a lost answer left, and looking a last time after a plain refusal of a repeat. */
type Work = 'ask' | 'look' | 'look once more'

export function createRentals(around: RentalsSurroundings): Rentals {
  const { document, client, clock } = around
  const secrets = rentalSecrets(around.keychain)
  const missing = new Map<string, number>()
  /** Rentals this process is working on, so that no two loops do. */
  const busy = new Set<string>()
  let stopped = false

  const all = () => document.get()
  const find = (id: string) => all().find(rental => rental.id === id)

  function existing(id: string): Rental {
    const rental = find(id)
    if (!rental)
      throw new BerthError({ code: 'no_such_rental', message: 'That rental is no longer on the list.' })
    return rental
  }

  async function update(id: string, change: Partial<Rental>): Promise<Rental> {
    await document.write(rentals =>
      rentals.map(rental => (rental.id === id ? { ...rental, ...change } : rental)),
    )
    around.changed()
    return existing(id)
  }

  async function end(id: string, change: Partial<Rental> & Pick<Rental, 'step'>): Promise<void> {
    const rental = await update(id, change)
    await secrets.forget(id).catch(() => undefined)
    if (change.step === 'failed') around.tell('Renting failed', rental, rental.problem)
    if (change.step === 'cancelled') around.tell('Rental cancelled', rental)
  }

  /** One loop per rental: asks, finds out what became of it, and undoes it where it is no longer wanted. */
  async function work(id: string, first: Work): Promise<void> {
    if (busy.has(id)) return
    busy.add(id)
    try {
      let next: Work | 'done' = first
      while (next !== 'done' && !stopped)
        next = await (next === 'ask' ? ask(existing(id)) : lookFor(existing(id), next === 'look'))
      const rental = find(id)
      if (rental?.unwanted && !stopped) await undo(rental)
    } catch (error) {
      if (!stopped) await end(id, { step: 'failed', problem: problemOf(error) })
    } finally {
      busy.delete(id)
    }
  }

  async function ask(rental: Rental): Promise<Exclude<Work, 'ask'> | 'done'> {
    if (rental.unwanted) return 'done'
    const request = await secrets.restore(rental.id, rental.request)
    if (!request) {
      await end(rental.id, { step: 'failed', problem: sentenceFor('secrets_lost') })
      return 'done'
    }
    const { id, asked } = await update(rental.id, { step: 'asking', asked: rental.asked + 1 })
    try {
      const answer = await client().offers.createInstance(request.offer, requestBody(request, id), {
        timeout: 30_000,
      })
      await adopt(id, answer.new_contract, answer.instance_api_key)
      return 'done'
    } catch (error) {
      if (stopped) return 'done'
      const ambiguous = error instanceof ServiceError && error.ambiguous
      if (!ambiguous && asked === 1) {
        await end(id, { step: 'failed', problem: problemOf(error) })
        return 'done'
      }
      await update(id, { step: 'lost', problem: problemOf(error) })
      return ambiguous ? 'look' : 'look once more'
    }
  }

  /** Looks at the account until the instance is found, or has had time enough to appear. */
  async function lookFor(rental: Rental, mayAskAgain: boolean): Promise<'ask' | 'done'> {
    await update(rental.id, { step: 'lost' })
    for (const pause of looksAfter) {
      const finding = await lookOnce(rental, pause)
      if (!finding) return 'done'
      if ('unclear' in finding) {
        await update(rental.id, { step: 'unclear', candidates: [...finding.unclear] })
        around.tell('Which instance belongs to this rental is not clear', existing(rental.id))
        return 'done'
      }
      if (finding.found !== undefined) {
        await adopt(rental.id, finding.found, undefined)
        await destroySurplus(finding.surplus, rental)
        return 'done'
      }
    }
    const latest = existing(rental.id)
    if (latest.unwanted) {
      await end(rental.id, { step: 'cancelled' })
      return 'done'
    }
    if (mayAskAgain && latest.asked < mostAsked) return 'ask'
    await end(rental.id, { step: 'failed', problem: latest.problem ?? sentenceFor('not_created') })
    return 'done'
  }

  /** One fresh answer after a pause, however long the service takes to give one; undefined when Berth ends. */
  async function lookOnce(rental: Rental, pause: number): Promise<Finding | undefined> {
    await sleep(pause)
    while (!stopped) {
      try {
        const records = await client().instances.list()
        return findLost(rental, records, taken(rental.id))
      } catch (error) {
        if (error instanceof ServiceError && (error.status === 401 || error.status === 403)) throw error
        await sleep(lookAgainAfter)
      }
    }
    return undefined
  }

  function taken(except: string): ReadonlySet<number> {
    return new Set(
      all().flatMap(({ id, instance }) => (id === except || instance === undefined ? [] : instance)),
    )
  }

  async function adopt(id: string, instance: number, instanceKey: string | undefined): Promise<void> {
    const rental = await update(id, { step: 'waiting', instance, createdAt: around.now() })
    missing.delete(id)
    around.tell(`Rented as #${instance}`, rental)
    around.created(instance, instanceKey)
    around.look()
    if (!rental.unwanted) await secrets.forget(id).catch(() => undefined)
  }

  /** More than one instance with one mark: only one was wanted. */
  async function destroySurplus(surplus: readonly number[], rental: Rental): Promise<void> {
    for (const instance of surplus) {
      await client().instances.destroy(instance)
      around.tell(`Destroyed #${instance}, which the same rental had created a second time`, rental)
    }
  }

  /** Leaves nothing behind. Tries until the service has answered. */
  async function undo(rental: Rental): Promise<void> {
    while (rental.instance !== undefined && !stopped) {
      try {
        await client().instances.destroy(rental.instance)
        break
      } catch (error) {
        if (error instanceof ServiceError && error.status === 404) break
        if (error instanceof ServiceError && (error.status === 401 || error.status === 403)) throw error
        await update(rental.id, { problem: problemOf(error) })
        await sleep(lookAgainAfter)
      }
    }
    if (stopped) return
    await end(rental.id, { step: 'cancelled' })
    around.look()
  }

  const sleep = (milliseconds: number) =>
    new Promise<void>(resolve => {
      clock.after(milliseconds, resolve)
    })

  return {
    async rent(request, offer) {
      const id = `r${around.newId()}`
      await secrets.keep(id, request)
      const rental: Rental = {
        id,
        account: around.account,
        request: withoutSecrets(request),
        offer: offer ? rentedOffer(offer) : { id: request.offer },
        step: 'asking',
        before: [...around.knownInstances()],
        asked: 0,
        startedAt: around.now(),
        deadline: around.deadline(),
      }
      await document.write(rentals => [...prune(rentals), rental])
      around.changed()
      around.tell('Renting', rental)
      void work(id, 'ask')
      return id
    },
    async cancel(id) {
      const rental = existing(id)
      if (!isUnderWay(rental)) return
      const unwanted = await update(id, { unwanted: true })
      if (busy.has(id)) return
      if (unwanted.step === 'unclear') await end(id, { step: 'cancelled' })
      else if (unwanted.instance !== undefined) await undo(unwanted)
      else void work(id, 'look')
    },
    async waitLonger(id) {
      const rental = existing(id)
      if (rental.step !== 'late') return
      const since = around.now() - (rental.createdAt ?? rental.startedAt)
      await document.write(rentals =>
        rentals.map(other => {
          if (other.id !== id) return other
          const { problem: _, ...rest } = other
          return { ...rest, step: 'waiting', deadline: since + around.deadline() }
        }),
      )
      around.changed()
    },
    async settle(id, instance) {
      const rental = existing(id)
      if (rental.step !== 'unclear') return
      if (instance === null) await end(id, { step: 'failed', problem: sentenceFor('not_created') })
      else if (rental.candidates?.includes(instance)) await adopt(id, instance, undefined)
      else
        throw new BerthError({
          code: 'invalid_argument',
          message: 'That instance is not one of those in question.',
        })
    },
    async dismiss(id) {
      if (isUnderWay(existing(id))) return
      await update(id, { dismissed: true })
    },
    looked(instances, records) {
      for (const rental of all()) {
        if ((rental.step !== 'waiting' && rental.step !== 'late') || rental.instance === undefined) continue
        if (busy.has(rental.id)) continue
        const instance = instances[rental.instance]
        const absent = instance ? 0 : (missing.get(rental.id) ?? 0) + 1
        missing.set(rental.id, absent)
        if (absent > 0 && absent < looksUntilGone) continue
        const { step, problem } = nextStep(rental, instance, around.now())
        if (step === rental.step && same(problem, rental.problem)) continue
        if (step === 'failed') void end(rental.id, { step, ...(problem ? { problem } : {}) })
        else void update(rental.id, problem ? { step, problem } : { step })
      }
      void destroyLateTwins(records)
    },
    resume() {
      for (const rental of all()) {
        if (rental.step === 'asking' || rental.step === 'lost')
          void work(rental.id, rental.asked === 0 ? 'ask' : 'look')
        else if (rental.unwanted && isUnderWay(rental)) void undo(rental).catch(() => undefined)
      }
    },
    view: () =>
      Object.fromEntries(
        all()
          .filter(
            rental =>
              isUnderWay(rental) ||
              (rental.step === 'failed' && !rental.dismissed && rental.instance === undefined),
          )
          .map(rental => [rental.id, viewOf(rental)]),
      ),
    requestOf: instance => all().findLast(rental => rental.instance === instance)?.request,
    stop() {
      stopped = true
    },
  }

  /** An answer that came later than it was waited for may leave a second instance with a mark: it must not stay. */
  async function destroyLateTwins(records: readonly Instance[]): Promise<void> {
    for (const rental of all()) {
      if (rental.instance === undefined || rental.asked < 2) continue
      const finding = findLost({ id: rental.id, before: records.map(({ id }) => id) }, records, new Set())
      if (!('found' in finding) || finding.found === undefined) continue
      const twins = [finding.found, ...finding.surplus].filter(id => id !== rental.instance)
      await destroySurplus(twins, rental).catch(() => undefined)
    }
  }
}

function prune(rentals: readonly Rental[]): Rental[] {
  const ended = rentals.filter(rental => !isUnderWay(rental))
  const dropped = new Set(ended.slice(0, Math.max(0, ended.length - mostEnded)).map(({ id }) => id))
  return rentals.filter(({ id }) => !dropped.has(id))
}

function rentedOffer({ id, gpuName, gpuCount, gpuMemory, price, location }: OfferView): Rental['offer'] {
  return {
    id,
    ...(gpuName === undefined ? {} : { gpuName }),
    ...(gpuCount === undefined ? {} : { gpuCount }),
    ...(gpuMemory === undefined ? {} : { gpuMemory }),
    ...(price === undefined ? {} : { pricePerHour: price }),
    ...(location === undefined ? {} : { location }),
  }
}

function viewOf(rental: Rental): RentalView {
  const { id, step, instance, offer, request, startedAt, deadline, candidates, problem } = rental
  return {
    id,
    step,
    offer,
    image: request.image,
    interruptible: request.bid !== undefined,
    startedAt,
    deadline,
    ...(instance === undefined ? {} : { instance }),
    ...(request.label ? { label: request.label } : {}),
    ...(candidates ? { candidates } : {}),
    ...(problem ? { problem } : {}),
  }
}
