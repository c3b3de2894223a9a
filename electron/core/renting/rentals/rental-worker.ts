import type { Problem } from '../../../contract/problem.ts'
import type { Creation } from '../../../service/offers.ts'
import { ServiceError } from '../../../service/service-error.ts'
import type { AccountContext } from '../../account-context.ts'
import { lackedBy } from '../../app/permission.ts'
import { problemOf } from '../../app/problems.ts'
import type { Guards } from '../../guards/service.ts'
import { isRefusal } from '../../instances/polling/poll.ts'
import { createAuthRetries } from './auth-retries.ts'
import { type Finding, findLost } from './find-lost.ts'
import { isUnderWay, type Rental } from './model.ts'
import { requestBody } from './request-body.ts'
import type { RentalSecrets } from './secrets.ts'
import { knownInstances, type StoredRentals } from './stored-rentals.ts'
import { rentalEntry, sentenceFor } from './words.ts'

/**
 * Asking for an instance; finding what a lost answer left, to ask again where nothing is found; or, once a repeat was
 * refused, to give up then. A rental that is no longer wanted is undone after each.
 */
export type Work = 'ask' | 'find' | 'find or give up' | 'undo'

/** Brings rentals from the wish to an instance, or to nothing at all: one loop for each. */
export interface RentalWorker {
  /** Goes on until it is settled, Berth ends, or the key is refused, which halts it; never rejects. A second call meanwhile does nothing. */
  work(id: string, first: Work): Promise<void>
  isBusy(id: string): boolean
  /** A look has shown the key to be good: what a refusal brought to a halt goes on. */
  goOn(): void
  adopt(id: string, instance: number, instanceKey: string | undefined): Promise<void>
  end(id: string, outcome: { step: Rental['step']; problem?: Rental['problem'] }): Promise<void>
  /** More instances with a mark than were wanted: one too many, or one that came when none was wanted any more. */
  destroySurplus(surplus: readonly number[], rental: Rental, why?: string): Promise<void>
}

/** What follows as soon as there is an instance. */
export interface InstanceHooks {
  /** Hears of each, and of its own key where it has one. */
  onCreated(instance: number, instanceKey: string | undefined): void
  /** Guards it as was chosen with its rental. */
  guard: Guards['guardRental']
}

/** Milliseconds for the service to create an instance. */
const creationTimeout = 30_000
/** Milliseconds before the first tries to find what a lost answer left; those after them come every `pollAgainAfter`. */
const findAfter = [500, 1500, 3000, 5000]
/** Seconds of the account's time in which a new instance appears in its list: what is not found by then was not created. */
const appearsWithin = 90
/** Milliseconds until an account that does not answer is looked at again. */
const pollAgainAfter = 5000
/** How often the service is asked for one wish at the most. */
const mostAsked = 3

/** What a failed creation is told as. Where the service knows no such offer, someone else has it by now. */
function creationProblem(error: unknown): Problem {
  const lacking = lackedBy(error, 'instance_write')
  if (lacking) return lacking
  const { facts, ...problem } = problemOf(error)
  const told = isOfferGone(error) ? sentenceFor('offer_gone') : problem
  return facts ? { ...told, facts } : told
}

/** Deployments say so with several statuses, and some in the words beside another code alone. */
function isOfferGone(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return false
  return error.status === 404 || (error.status < 500 && /\bno_such_ask\b/.test(error.detail ?? ''))
}

/**
 * Nobody is there to try once more what is tried by itself, and the refusal may have been a moment's: a second one is
 * believed. Nothing was created, so that it counts as not asked for.
 */
function forgivesRefusedKey({ owner, refused }: Rental): boolean {
  return owner !== undefined && !refused
}

const createdTwice = 'which the same rental had created a second time'

export function createRentalWorker(
  context: AccountContext,
  rentals: StoredRentals,
  secrets: RentalSecrets,
  { onCreated, guard }: InstanceHooks,
): RentalWorker {
  const { client, ending, activity } = context
  const { clock } = context.machine
  const { get, update } = rentals
  /** Rentals this process is working on, so that no two loops do. */
  const busy = new Set<string>()
  const retries = createAuthRetries<Work>(clock)
  const call = { signal: ending }
  const tell = (...event: Parameters<typeof rentalEntry>) => activity.add(rentalEntry(...event))

  async function work(id: string, first: Work): Promise<void> {
    if (busy.has(id) || ending.aborted) return
    busy.add(id)
    let next: Work | 'done' = first
    try {
      while (next !== 'done' && !ending.aborted) next = await step(next, get(id))
      const rental = get(id)
      if (rental.unwanted && isUnderWay(rental) && !ending.aborted) await undo(id)
      retries.over(id)
    } catch (error) {
      if (ending.aborted) return
      if (isRefusal(error)) {
        // A refused key tells nothing about the instance.
        retries.refused(id, next === 'done' ? 'undo' : next)
        await update(id, { problem: problemOf(error) })
      } else {
        retries.over(id)
        await end(id, { step: 'failed', problem: problemOf(error) })
      }
    } finally {
      busy.delete(id)
    }
  }

  function goOn(): void {
    for (const [id, next] of retries.due()) {
      const rental = rentals.find(id)
      if (rental && isUnderWay(rental)) void work(id, next)
      else retries.over(id)
    }
  }

  async function step(next: Work, rental: Rental): Promise<Work | 'done'> {
    if (next === 'undo') return 'done'
    return next === 'ask' ? ask(rental) : findLostOne(rental, next === 'find')
  }

  /** Whether the deployment goes beyond the interface: it then has runtypes and fields of its own. */
  function isBeyondInterface(): boolean {
    return context.store.get().accounts[context.account]?.beyondInterface === true
  }

  async function ask(rental: Rental): Promise<Work | 'done'> {
    if (rental.unwanted) return 'done'
    const request = await secrets.restore(rental, rental.request)
    if (!request) {
      await end(rental.id, { step: 'failed', problem: sentenceFor('secrets_lost') })
      return 'done'
    }
    await rentals.intend(rental.id, { step: 'asking', asked: rental.asked + 1 })
    const { id, asked, unwanted } = get(rental.id)
    if (unwanted) return 'done'
    let created: Creation
    try {
      const options = { ...call, timeout: creationTimeout }
      created = await client().offers.createInstance(
        request.offer,
        requestBody(request, id, isBeyondInterface()),
        options,
      )
    } catch (error) {
      if (ending.aborted) return 'done'
      const ambiguous = error instanceof ServiceError && error.ambiguous
      if (isRefusal(error) && asked === 1 && forgivesRefusedKey(rental)) {
        await update(id, { asked: 0, refused: true })
        throw error
      }
      if (!ambiguous && asked === 1) {
        await end(id, { step: 'failed', problem: creationProblem(error) })
        return 'done'
      }
      await update(id, { step: 'lost', problem: creationProblem(error) })
      return ambiguous ? 'find' : 'find or give up'
    }
    if (!ending.aborted) await adopt(id, created.new_contract, created.instance_api_key)
    return 'done'
  }

  /** Looks at the account until the instance is found, or has had time enough to appear. */
  async function findLostOne({ id }: Rental, mayAskAgain: boolean): Promise<'ask' | 'done'> {
    await update(id, { step: 'lost' })
    const from = context.now()
    const mayStillAppear = () => Math.abs(context.now() - from) < appearsWithin
    for (let tries = 0; tries < findAfter.length || mayStillAppear(); tries += 1) {
      const pause = findAfter[tries] ?? pollAgainAfter
      const finding = await lookOnce(id, pause, tries === 0)
      if (!finding) return 'done'
      if ('unclear' in finding) {
        await letUserSay(id, finding.unclear)
        return 'done'
      }
      if (finding.found !== undefined) {
        await adopt(id, finding.found, undefined, finding.guessed)
        await destroySurplus(finding.surplus, get(id))
        return 'done'
      }
    }
    const { unwanted, asked, problem } = get(id)
    if (unwanted) return 'done'
    if (mayAskAgain && asked < mostAsked) return 'ask'
    await end(id, { step: 'failed', problem: problem ?? sentenceFor('not_created') })
    return 'done'
  }

  async function letUserSay(id: string, candidates: readonly number[]): Promise<void> {
    await update(id, { step: 'unclear', candidates: [...candidates] })
    const rental = get(id)
    tell('Which instance belongs to this rental is not clear', rental)
  }

  /** One fresh and whole answer after a pause, however long the service takes to give one; undefined when Berth ends. */
  async function lookOnce(id: string, pause: number, anew: boolean): Promise<Finding | undefined> {
    await sleep(pause)
    while (!ending.aborted) {
      try {
        const { instances, unread, cutShort } = await client().instances.list({ ...call, anew })
        if (ending.aborted) return undefined
        const finding = findLost(get(id), instances, taken(id))
        const before = new Set(get(id).before)
        const listed = new Set([...instances, ...unread].map(({ id: one }) => one))
        const isUncertain =
          cutShort !== undefined ||
          unread.some(({ id: one }) => one === undefined || !before.has(one)) ||
          knownInstances(context).some(known => !listed.has(known))
        // What is not found in a list that may lack it may be there all the same: asking again could rent it twice.
        if (!isUncertain || ('found' in finding && finding.found !== undefined)) return finding
        await update(id, { problem: sentenceFor('list_uncertain') })
        await sleep(pollAgainAfter)
      } catch (error) {
        if (isRefusal(error)) throw error
        await sleep(pollAgainAfter)
      }
    }
    return undefined
  }

  function taken(except: string): ReadonlySet<number> {
    return new Set(
      rentals.all().flatMap(({ id, instance }) => (id === except || instance === undefined ? [] : instance)),
    )
  }

  /** Secrets go first: killed in between, the rental is found by its mark, and no secret stays behind. */
  async function adopt(
    id: string,
    instance: number,
    instanceKey: string | undefined,
    guessed = false,
  ): Promise<void> {
    await secrets.forget(get(id)).catch(() => undefined)
    if (guessed && get(id).unwanted) return letUserSay(id, [instance])
    const { request, unwanted } = get(id)
    // Before the rental knows it: a kill in between has it found, and guarded, again.
    if (!unwanted) await guard(id, instance, request.stops ?? [])
    await update(id, {
      step: 'waiting',
      instance,
      createdAt: context.now(),
      candidates: undefined,
      problem: undefined,
    })
    const rental = get(id)
    tell(`Rented as #${instance}`, rental)
    onCreated(instance, instanceKey)
    void context.poll()
  }

  /** What cannot be destroyed now is seen again at the next look. */
  async function destroySurplus(
    surplus: readonly number[],
    rental: Rental,
    why = createdTwice,
  ): Promise<void> {
    for (const instance of surplus) {
      try {
        await client().instances.destroy(instance, call)
      } catch {
        continue
      }
      tell(`Destroyed #${instance}, ${why}`, rental)
    }
  }

  /** Leaves nothing behind. Tries until the service has answered; which one is its own, the user may have to say first. */
  async function undo(id: string): Promise<void> {
    if (get(id).step === 'unclear') {
      await update(id, { problem: sentenceFor('unclear_unwanted') })
      return
    }
    // The wish to undo it may not have been on disk yet.
    await update(id, { unwanted: true })
    for (;;) {
      const { instance } = get(id)
      if (instance === undefined) break
      try {
        await client().instances.destroy(instance, call)
        break
      } catch (error) {
        if (ending.aborted) return
        if (error instanceof ServiceError && error.status === 404) break
        if (isRefusal(error)) throw error
        await update(id, { problem: problemOf(error) })
        await sleep(pollAgainAfter)
      }
    }
    if (ending.aborted) return
    await end(id, { step: 'cancelled' })
    void context.poll()
  }

  async function end(
    id: string,
    { step, problem }: { step: Rental['step']; problem?: Rental['problem'] },
  ): Promise<void> {
    // What was created had its secrets forgotten then; its end is noted at once, so that nothing comes in between.
    const before = get(id)
    if (before.instance === undefined) await secrets.forget(before).catch(() => undefined)
    await update(id, { step, problem })
    const rental = get(id)
    if (step === 'failed') {
      const detail = problem ? { detail: problem.message } : {}
      // It is rented, and bid what was to be bid: nothing failed.
      if (problem?.code === 'outbid') tell('Rented, but outbid before it ran', rental, detail)
      else tell('Renting failed', rental, { kind: 'error', ...detail })
    }
    if (step === 'cancelled' && rental.owner === undefined) tell('Rental cancelled', rental, { kind: 'user' })
    else if (step === 'cancelled') tell('An attempt was taken back', rental)
    // Its failover goes on with the next one at the next look.
    if (rental.owner !== undefined) void context.poll()
  }

  const sleep = (milliseconds: number) =>
    new Promise<void>(resolve => {
      const cancel = clock.after(milliseconds, done)
      function done(): void {
        cancel()
        ending.removeEventListener('abort', done)
        resolve()
      }
      ending.addEventListener('abort', done)
    })

  return { work, isBusy: id => busy.has(id), goOn, adopt, end, destroySurplus }
}
