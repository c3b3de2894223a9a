import type { AccountContext, AccountPoll } from '#core/account-context.ts'
import { pollsUntilGone } from '#core/instances/missing-instances.ts'
import type { StoredLimits } from '#core/limits/model.ts'
import { requestSecrets, withoutSecrets } from '#core/market/request-secrets.ts'
import { spentBy } from '#shared/derived.ts'
import type { OfferView } from '#shared/market/offer.ts'
import type { SavedQuery } from '#shared/market/offer-query.ts'
import type { RentRequest } from '#shared/market/rent-request.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { Spender } from '#shared/spending/spender.ts'
import { isDeepEqual } from '../storage/store.ts'
import {
  adoptInstance,
  type CreationParts,
  destroySurplus,
  endAttempt,
  type RentalNeighbours,
  reservationOf,
} from './adopt.ts'
import { checkLengths, InstanceCreation } from './create.ts'
import { blameHosts, openFailedMachines } from './failed-machines.ts'
import { doubtful, lateComers, markedBy, takenBesides, verdictOn } from './find-lost.ts'
import { LeftVolumes } from './left-volumes.ts'
import { cameLateAlert, rentalAlert, sentenceFor, tellOfRetries, tryEntry } from './messages.ts'
import { nextTryStep, tooDearAtFirst } from './next-move.ts'
import { newAttempt } from './next-offer.ts'
import {
  isProven,
  isRetrying,
  isUnderWay,
  makesVolume,
  openStoredRentals,
  type Rental,
  type RentalAttempt,
  type RetryRequest,
} from './rental.ts'
import { pastRentals, rentalViews } from './rental-view.ts'
import { Retries } from './retrying.ts'

export type Rentals = Awaited<ReturnType<typeof openRentals>>

/** Seconds after its click in which an attempt of an earlier Berth is still requested: later its price may be another. */
const requestedWithin = 900
/** Seconds by which two answers about the account’s time may differ. */
const uncertainty = 60

/**
 * The rentals of one account. A rental without retries tries one offer, and its user decides about it; with retries it
 * tries one machine after another until one can be entered. An attempt is stored before its request is sent, and carries a
 * mark; after a lost answer, Berth searches the account before it requests again. An attempt never rents twice. The next
 * step of an attempt is decided after fresh polls only, and stored before Berth acts.
 */
export async function openRentals(
  context: AccountContext,
  neighbours: RentalNeighbours,
  limits: Pick<StoredLimits, 'actedOn'>,
  soonDown?: () => ReadonlySet<number>,
) {
  const { account, activity, store } = context
  const secrets = requestSecrets(context.keychain)
  const hosts = await openFailedMachines(context, soonDown)
  let instances: AccountPoll['account']['instances'] = {}
  const rentals = await openStoredRentals(context, all => ({
    rentals: rentalViews(all, instances),
    pastRentals: pastRentals(all),
    failedMachines: hosts.view(),
  }))
  const { all, find, get, update, attempts } = rentals
  const parts: CreationParts = { ...neighbours, context, attempts, secrets }
  const creation = new InstanceCreation(parts)
  const request = (mark: string) => creation.work(mark, 'ask')
  const leftVolumes = new LeftVolumes(context, attempts)
  const retries = new Retries(
    { context, rentals, hosts, secrets, request, discard, ledger: neighbours.ledger },
    limits,
  )

  /** Stores a rental and its secret values. Throws `not_written`, and then nothing has changed. */
  async function add(rental: Rental): Promise<void> {
    await secrets.keep(rental.id, rental.request)
    try {
      await rentals.add({ ...rental, request: withoutSecrets(rental.request) })
    } catch (error) {
      await secrets.forget(rental).catch(() => undefined)
      throw error
    }
  }

  /** Destroys surplus instances; one that appeared after its attempt had ended is kept if it is still wanted. */
  function meetLateComers(attempt: RentalAttempt, late: readonly number[]): void {
    const { mark, rental, unwanted } = attempt
    if (late.length === 0) return
    if (isProven(attempt)) void destroySurplus(context, late)
    else if (!isRetrying(rental) && !unwanted) creation.work(mark, 'find or give up')
    else {
      void destroySurplus(context, late, 'created after its rental had ended')
      void countLate(attempt, late)
    }
  }

  /** What machines cost that appeared after their try had ended, up to now. */
  async function countLate(attempt: RentalAttempt, late: readonly number[]): Promise<void> {
    for (const id of late) neighbours.ledger.found(reservationOf(attempt, neighbours), id)
    const at = context.now()
    const micros = late.reduce((sum, id) => sum + (instances[id] ? spentBy(instances[id], at) : 0), 0)
    const { mark, cost, spent, problem, rental } = attempt
    const isFirst = problem?.code !== 'came_late'
    if (!isFirst && micros <= (spent?.micros ?? 0)) return
    const view = late.map(id => instances[id]).find(Boolean)
    if (isFirst && view && rental.step === 'failed')
      context.notifications.tell(account, [cameLateAlert(account, rental.id, view)])
    await attempts.update(mark, {
      problem: sentenceFor('came_late'),
      spent: { micros, at, perHour: 0 },
      ...(isFirst && makesVolume(rental.request, attempt) && { volumeLeft: true }),
      ...(cost !== undefined && { cost: Math.max(cost, micros) }),
    })
  }

  /** Undoes an attempt at any step, even one that runs or failed. */
  async function discard(mark: string): Promise<void> {
    const { step, instance } = attempts.get(mark)
    const ended = !isUnderWay({ step })
    if (step === 'cancelled' || (ended && instance === undefined)) return
    await attempts.update(mark, { unwanted: true, step: ended ? 'waiting' : step })
    takeBack(mark)
  }

  function takeBack(mark: string): void {
    const attempt = attempts.get(mark)
    const unknown = attempt.instance === undefined && attempt.step !== 'unclear'
    if (isUnderWay(attempt)) creation.work(mark, unknown ? 'find' : 'undo')
  }

  function lastAttempt(id: string): RentalAttempt {
    const rental = get(id)
    const attempt = rental.attempts.at(-1)
    if (!attempt) throw new BerthError(nothingTried)
    return { ...attempt, rental }
  }

  /** Compares the instance that the service named with what a poll shows; a wrong one is let go, and searched for. */
  function prove(attempt: RentalAttempt, { records, pollsMissing }: AccountPoll): void {
    const { mark, step, instance, unwanted } = attempt
    if (instance === undefined || isProven(attempt) || creation.isBusy(mark)) return
    if (step !== 'waiting' && step !== 'late') return
    const isMissing = pollsMissing(instance) >= pollsUntilGone
    const taken = takenBesides(attempts, mark)
    const verdict = verdictOn(attempt, records, isMissing, taken)
    if (verdict === 'own') void attempts.update(mark, { seen: true })
    if (verdict !== 'wrong') return
    const named = records.find(({ id }) => id === instance)
    const lost = { step: 'lost', instance: undefined, candidates: doubtful(attempt, named, taken) } as const
    void attempts.update(mark, { ...lost, problem: sentenceFor('not_new') })
    creation.work(mark, unwanted ? 'find' : 'find or give up')
  }

  /** Follows a created instance until it runs or has failed, unless a loop is working on its attempt. */
  function follow(attempt: RentalAttempt, { account: { instances }, pollsMissing }: AccountPoll): void {
    const { mark, step: before } = attempt
    if ((before !== 'waiting' && before !== 'late') || attempt.instance === undefined) return
    if (attempt.unwanted || creation.isBusy(mark)) return
    const instance = instances[attempt.instance]
    if (!instance && pollsMissing(attempt.instance) < pollsUntilGone) return
    // So that a clock that was set back does not postpone the deadline.
    if ((attempt.createdAt ?? 0) > context.now() + uncertainty)
      void attempts.update(mark, { createdAt: context.now() })
    const dearer = instance && tooDearAtFirst(attempt, instance, context.now())
    if (dearer) return void refuse(attempt, instance.id, dearer)
    const { step, problem } = nextTryStep(attempt, instance, context.now())
    if (step === before && isDeepEqual(problem, attempt.problem)) return
    if (step === 'failed') void endAttempt(parts, mark, step, problem)
    else void attempts.update(mark, { step, problem })
  }

  /** Ends an attempt whose instance is not what was confirmed. With retries, dropping it destroys it. */
  async function refuse({ mark, rental }: RentalAttempt, instance: number, problem: Problem): Promise<void> {
    if (!isRetrying(rental)) {
      const text = `Destroyed #${instance}, which cost far more than confirmed`
      await context.endings.begin(instance, 'destroy', { kind: 'berth', text, detail: problem.message })
    }
    await endAttempt(parts, mark, 'failed', problem)
    if (!isRetrying(rental)) context.notifications.tell(account, [rentalAlert(account, attempts.get(mark))])
  }

  return {
    hosts,
    /**
     * Rents one offer. Resolves with the rental's id once it is on disk; it then continues automatically. `search` found the
     * offer; `id` is the rental's, if it exists already. Throws `invalid_argument`.
     */
    async rent(
      request: RentRequest,
      offer: OfferView | undefined,
      {
        search,
        id = `r${context.newId()}`,
        by,
        byCommand,
      }: { search?: SavedQuery; id?: string; by?: Spender; byCommand?: true } = {},
    ): Promise<string> {
      checkLengths(request, store.get().accounts[account])
      const { offer: number, ...open } = request
      const only = newAttempt(context, id, offer ?? { id: number })
      await add({
        id,
        account,
        request: open,
        search,
        why: 'user',
        byCommand,
        by,
        step: 'trying',
        attempts: [{ ...only, deadline: store.get().settings.rentalDeadline }],
        startedAt: only.startedAt,
      })
      activity.add(tryEntry('Renting', lastAttempt(id), { kind: 'user' }))
      creation.work(id, 'ask')
      return id
    },
    /** Rents with retries. Resolves as `rent` does. A known `id` starts nothing. */
    async start(wanted: RetryRequest, id: string = `r${context.newId()}`): Promise<string> {
      if (find(id)) return id
      await add({ ...wanted, id, account, step: 'trying', attempts: [], startedAt: context.now() })
      const rental = get(id)
      const text = `Renting with retries: up to ${wanted.retries.attempts} attempts`
      if (isRetrying(rental)) tellOfRetries(context, rental, { text })
      retries.goOn(id)
      return id
    },
    /**
     * Ends it at any step and destroys what it created. `needless`: cancelled by its recovery, or after the recovery has
     * handled the user's cancelling. Throws `too_late` once it is ready.
     */
    async cancel(id: string, needless: boolean = false): Promise<void> {
      const rental = get(id)
      const { step, unwanted } = rental
      if (step === 'ready') throw new BerthError(tooLate)
      if (step !== 'trying' && !(needless && step === 'cancelled')) return
      if (!isRetrying(rental)) {
        await attempts.update(id, { unwanted: true })
        takeBack(id)
      } else if (!unwanted || needless) {
        await update(id, { unwanted: true, needless })
        retries.goOn(id)
      }
    },
    async waitLonger(id: string): Promise<void> {
      const { mark, step, createdAt, startedAt } = lastAttempt(id)
      if (step !== 'late') return
      const since = context.now() - (createdAt ?? startedAt)
      const deadline = since + store.get().settings.rentalDeadline
      await attempts.update(mark, { step: 'waiting', deadline, problem: undefined })
    },
    /** The user chose this rental's instance, or that there is none. */
    async resolve(id: string, instance: number | null): Promise<void> {
      const { mark, step, unwanted, candidates } = lastAttempt(id)
      if (step !== 'unclear') return
      if (instance === null && unwanted) await endAttempt(parts, mark, 'cancelled')
      else if (instance === null) await endAttempt(parts, mark, 'failed', sentenceFor('not_created'))
      else if (candidates?.includes(instance)) {
        await adoptInstance(parts, mark, instance)
        await attempts.update(mark, { seen: true })
        if (attempts.get(mark).unwanted) takeBack(mark)
      } else throw new BerthError(notInQuestion)
    },
    async dismiss(id: string): Promise<void> {
      if (get(id).step !== 'trying') await update(id, { dismissed: true })
    },
    onPoll(poll: AccountPoll): void {
      ;({ instances } = poll.account)
      creation.goOn()
      for (const attempt of attempts.all()) prove(attempt, poll)
      for (const attempt of attempts.all()) follow(attempt, poll)
      for (const attempt of attempts.all()) meetLateComers(attempt, lateComers(attempt, poll.records))
      // Its mark is to be seen after all, so the user need not answer any more.
      for (const { mark, step } of attempts.all())
        if (step === 'unclear' && markedBy(mark, poll.records).length > 0) creation.work(mark, 'find')
      retries.onPoll(poll)
      leftVolumes.onPoll()
      void blameHosts(attempts.all(), hosts, poll).then(rentals.show)
      rentals.show()
    },
    /** Created instances that do not run yet; `createdAt` in epoch seconds of the account's time. */
    awaited: (): readonly { instance: number; createdAt: number }[] =>
      attempts
        .all()
        .flatMap(({ step, instance, createdAt, startedAt }) =>
          instance === undefined || (step !== 'waiting' && step !== 'late')
            ? []
            : [{ instance, createdAt: createdAt ?? startedAt }],
        ),
    show: rentals.show,
    resume(): void {
      for (const attempt of attempts.all()) {
        const { mark, step, requestCount, instance, unwanted, startedAt } = attempt
        if (!isUnderWay(attempt) || creation.isBusy(mark)) continue
        const isOld = context.now() - startedAt > requestedWithin
        if (step === 'asking' || step === 'lost') {
          if (requestCount > 0) creation.work(mark, isOld ? 'find or give up' : 'find')
          else if (isOld && !unwanted) void endAttempt(parts, mark, 'failed', sentenceFor('too_old'))
          else creation.work(mark, 'ask')
        } else if (unwanted && (instance !== undefined || step === 'unclear')) creation.work(mark, 'undo')
      }
    },
    /** A template was edited: rentals of it refer to its new version. A failed write does not reject. */
    async followTemplate(from: string, to: string, name: string | undefined): Promise<void> {
      for (const { id, request } of all()) {
        const { template } = request
        if (template?.hash !== from) continue
        await update(id, { request: { ...request, template: { hash: to, name: name ?? template.name } } })
      }
    },
    secretOwners: () => all().flatMap(({ id, step }) => (step === 'trying' ? id : [])),
    dueAt: (after: number) => retries.dueAt(after),
    /** The machines that rentals got, which may have volumes in use. */
    usedMachines: (): ReadonlySet<number> =>
      new Set(
        all().flatMap(({ step, attempts: all }) =>
          step === 'ready' ? (all.at(-1)?.offer.machineId ?? []) : [],
        ),
      ),
    /** Whether any rental has not ended. */
    underWay: (): boolean => all().some(({ step }) => step === 'trying'),
    find,
    /** Without secrets. Throws `no_such_rental`. */
    get,
    /** The last attempt of a rental, without secrets. Throws `no_such_rental`. */
    lastAttempt,
    /** The attempt that created an instance, without secrets. */
    ofInstance: (instance: number): RentalAttempt | undefined =>
      attempts.all().findLast(attempt => attempt.instance === instance),
    /** The user bids that many dollars per hour for an instance, which may cost less from now on. */
    async noteBid(instance: number, bid: number): Promise<void> {
      const attempt = attempts.all().findLast(one => one.instance === instance)
      if (attempt) await attempts.update(attempt.mark, { bid })
    },
    /** The try with that mark, without secrets. */
    attempt: attempts.find,
    /** Whether a mark belongs to a rental of this Berth. */
    knows: (mark: string): boolean => attempts.find(mark) !== undefined,
    /** Forgets that a machine failed. */
    async forgive(machine: number): Promise<void> {
      await hosts.forgive(machine)
      rentals.show()
    },
    async flush() {
      await Promise.all([rentals.flush(), hosts.flush()])
    },
  }
}

const tooLate: Problem = {
  code: 'too_late',
  message: 'It’s already ready, so there’s nothing to cancel.',
  advice: 'Destroy the instance if you don’t want it.',
}

const notInQuestion: Problem = {
  code: 'invalid_argument',
  message: 'That instance isn’t one of the candidates.',
}

const nothingTried: Problem = { code: 'no_such_rental', message: 'No offer has been tried yet.' }
