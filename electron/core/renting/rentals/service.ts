import type { OfferView, SavedQuery } from '#contract/market/offer.ts'
import type { RentRequest } from '#contract/market/rental.ts'
import { BerthError } from '#contract/problem.ts'
import type { AccountContext, Automation } from '#core/account-context.ts'
import { lateComers } from './creation/find-lost.ts'
import { createFollower } from './creation/follow-created.ts'
import {
  adoptInstance,
  destroySurplus,
  endRental,
  type InstanceHooks,
  type RentalParts,
} from './creation/outcomes.ts'
import { createRentalWorker } from './creation/rental-worker.ts'
import { isUnderWay, type Rental } from './model.ts'
import { checkLengths } from './request-body.ts'
import { rentalSecrets, withoutSecrets } from './secrets.ts'
import { knownInstances, openStoredRentals } from './stored-rentals.ts'
import { rentalEntry, sentenceFor } from './words.ts'

/**
 * The rentals of one account. A rental is stored before its request is sent, and carries a mark; after a lost answer,
 * Berth searches the account before it requests again. A rental never rents twice.
 */
export interface Rentals extends Required<Omit<Automation, 'dueAt'>> {
  /** Resolves with the rental's id once it is on disk; it then continues by itself. Throws `invalid_argument`. */
  rent(request: RentRequest, offer: OfferView | undefined, more?: RentedFor): Promise<string>
  /** Ends it and destroys what it created. */
  cancel(id: string): Promise<void>
  /** The same at any step, even running or failed: for attempts, which are cancelled without asking. */
  discard(id: string): Promise<void>
  waitLonger(id: string): Promise<void>
  /** The user chose this rental's instance, or said that there is none. */
  resolve(id: string, instance: number | null): Promise<void>
  dismiss(id: string): Promise<void>
  /** Created instances that do not run yet; `createdAt` in epoch seconds of the account's time. */
  awaited(): readonly { instance: number; createdAt: number }[]
  /** Whether any rental has not ended. */
  underWay(): boolean
  /** A template was edited: rentals of it refer to its new version. A failed write does not reject. */
  followTemplate(from: string, to: string, name: string | undefined): Promise<void>
  /** All that are stored, oldest first. */
  all(): readonly Rental[]
  /** The rental that created an instance, without secrets. */
  ofInstance(instance: number): Rental | undefined
  /** A rental's request and offer, without secrets. Throws `no_such_rental`. */
  rented(id: string): Rental
  /** Whether a mark belongs to a rental of this Berth. */
  knows(mark: string): boolean
  /** The attempts of a series, oldest first. */
  owned(owner: string): readonly Rental[]
}

/** Data of a rental besides its request and offer. */
export interface RentedFor {
  /** For an attempt: its series, and the seconds it may take. */
  owned?: { owner: string; deadline: number }
  /** The search that found the offer. */
  search?: SavedQuery
  /** The rental's id, if it exists already. */
  id?: string
}

/** Seconds after its click in which a rental of an earlier Berth is still requested: later its price may be another. */
const requestedWithin = 900

export async function openRentals(context: AccountContext, hooks: InstanceHooks): Promise<Rentals> {
  const { account, activity, store } = context
  const secrets = rentalSecrets(context.keychain)
  const rentals = await openStoredRentals(context)
  const { all, find, get, update } = rentals
  const parts: RentalParts = { context, rentals, secrets, hooks }
  const worker = createRentalWorker(parts)
  const ofInstance = (instance: number) => all().findLast(rental => rental.instance === instance)
  const follow = createFollower(parts, worker.isBusy)

  /** Destroys surplus instances; one that appeared after the rental ended is kept if it is still wanted. */
  function meetLateComers(rental: Rental, late: readonly number[]): void {
    const { id, instance, owner, unwanted } = rental
    if (late.length === 0) return
    if (instance !== undefined) void destroySurplus(context, late, rental)
    else if (owner === undefined && !unwanted) void worker.work(id, 'find or give up')
    else void destroySurplus(context, late, rental, 'which came after its rental had ended')
  }

  function takeBack(id: string): void {
    const rental = get(id)
    const unknown = rental.instance === undefined && rental.step !== 'unclear'
    if (isUnderWay(rental)) void worker.work(id, unknown ? 'find' : 'undo')
  }

  return {
    async rent(request, offer, { owned, search, id = `r${context.newId()}` } = {}) {
      checkLengths(request, store.get().accounts[account]?.beyondInterface === true)
      if (!owned) await secrets.keep(id, request)
      try {
        await rentals.add({
          id,
          account,
          request: withoutSecrets(request),
          offer: offer ? rentedOffer(offer) : { id: request.offer },
          step: 'asking',
          before: knownInstances(context),
          asked: 0,
          startedAt: context.now(),
          deadline: owned?.deadline ?? store.get().settings.rentalDeadline,
          owner: owned?.owner,
          search,
        })
      } catch (error) {
        if (!owned) await secrets.forget({ id, request }).catch(() => undefined)
        throw error
      }
      activity.add(rentalEntry('Renting', get(id), owned ? {} : { kind: 'user' }))
      void worker.work(id, 'ask')
      return id
    },
    async cancel(id) {
      const rental = get(id)
      if (rental.step === 'running') throw new BerthError(tooLate)
      if (!isUnderWay(rental)) return
      await update(id, { unwanted: true })
      takeBack(id)
    },
    async discard(id) {
      const { step, instance } = get(id)
      const ended = !isUnderWay(get(id))
      if (step === 'cancelled' || (ended && instance === undefined)) return
      await update(id, { unwanted: true, step: ended ? 'waiting' : step })
      takeBack(id)
    },
    async waitLonger(id) {
      const rental = get(id)
      if (rental.step !== 'late') return
      const since = context.now() - (rental.createdAt ?? rental.startedAt)
      await update(id, {
        step: 'waiting',
        deadline: since + store.get().settings.rentalDeadline,
        problem: undefined,
      })
    },
    async resolve(id, instance) {
      const rental = get(id)
      if (rental.step !== 'unclear') return
      if (instance === null && rental.unwanted) await endRental(parts, id, 'cancelled')
      else if (instance === null) await endRental(parts, id, 'failed', sentenceFor('not_created'))
      else if (rental.candidates?.includes(instance)) {
        await adoptInstance(parts, id, instance)
        if (get(id).unwanted) takeBack(id)
      } else
        throw new BerthError({
          code: 'invalid_argument',
          message: 'That instance is not one of those in question.',
        })
    },
    async dismiss(id) {
      if (isUnderWay(get(id))) return
      await update(id, { dismissed: true })
    },
    onPoll(poll) {
      worker.goOn()
      follow(poll)
      for (const rental of all()) meetLateComers(rental, lateComers(rental, poll.records))
    },
    awaited: () =>
      all().flatMap(({ step, instance, createdAt, startedAt }) =>
        instance === undefined || (step !== 'waiting' && step !== 'late')
          ? []
          : [{ instance, createdAt: createdAt ?? startedAt }],
      ),
    show: rentals.show,
    resume() {
      for (const rental of all()) {
        const { id, step, asked, instance, unwanted, startedAt } = rental
        if (!isUnderWay(rental) || worker.isBusy(id)) continue
        const isOld = context.now() - startedAt > requestedWithin
        if (step === 'asking' || step === 'lost') {
          if (asked > 0) void worker.work(id, isOld ? 'find or give up' : 'find')
          else if (isOld && !unwanted) void endRental(parts, id, 'failed', sentenceFor('too_old'))
          else void worker.work(id, 'ask')
        } else if (unwanted && (instance !== undefined || step === 'unclear')) void worker.work(id, 'undo')
      }
    },
    async followTemplate(from, to, name) {
      for (const { id, request } of all()) {
        const { template } = request
        if (template?.hash !== from) continue
        await update(id, { request: { ...request, template: { hash: to, name: name ?? template.name } } })
      }
    },
    secretOwners: () => all().flatMap(rental => (isUnderWay(rental) ? rental.id : [])),
    underWay: () => all().some(isUnderWay),
    rented: get,
    knows: mark => find(mark) !== undefined,
    owned: owner => all().filter(rental => rental.owner === owner),
    all,
    ofInstance,
    flush: rentals.flush,
  }
}

const tooLate = {
  code: 'too_late',
  message: 'It is running already, so there is nothing left to cancel.',
  advice: 'Destroy the instance if you do not want it.',
}

function rentedOffer(offer: OfferView): Rental['offer'] {
  const { id, gpuName, gpuCount, gpuMemory, price, location, machineId, hostId, verified, reliability } =
    offer
  const known = { gpuName, gpuCount, gpuMemory, location, machineId, hostId, verified, reliability }
  return { id, ...known, pricePerHour: price }
}
