import type { Problem } from '#contract/problem.ts'
import { lackedBy } from '#core/app/permission.ts'
import { problemOf } from '#core/app/problems.ts'
import { isRefusal } from '#core/instances/polling/poll.ts'
import type { Creation } from '#service/offers.ts'
import { ServiceError } from '#service/service-error.ts'
import { isUnderWay, type Rental } from '../model.ts'
import { requestBody } from '../request-body.ts'
import { sentenceFor } from '../words.ts'
import { createAuthRetries } from './auth-retries.ts'
import { adoptInstance, askAgainAfter, endRental, type RentalParts, sleep, undoRental } from './outcomes.ts'
import { searchForLost } from './search-for-lost.ts'

/**
 * Requesting an instance; searching for it after a lost answer, to request it again if there is none, or, after a
 * refused repeat, to give up then. A rental that is no longer wanted is undone after each.
 */
export type Work = 'ask' | 'find' | 'find or give up' | 'undo'

/** Takes rentals from the request to an instance, or to their failure, in one loop per rental. */
export interface RentalWorker {
  /**
   * Continues until the rental has ended, Berth ends, or the key is refused, which stops it for now; never rejects. A
   * second call meanwhile does nothing.
   */
  work(id: string, first: Work): Promise<void>
  isBusy(id: string): boolean
  /** Call after a poll showed that the key works: rentals stopped by a refusal continue. */
  goOn(): void
}

/** Milliseconds for the service to create an instance. */
const creationTimeout = 30_000

export function createRentalWorker(parts: RentalParts): RentalWorker {
  const { rentals } = parts
  const { ending, machine } = parts.context
  /** Rentals with a running loop. */
  const busy = new Set<string>()
  const retries = createAuthRetries<Work>(machine.clock)

  async function work(id: string, first: Work): Promise<void> {
    if (busy.has(id) || ending.aborted) return
    busy.add(id)
    let next: Work | 'done' = first
    try {
      while (next !== 'done' && !ending.aborted) next = await step(parts, next, rentals.get(id))
      const rental = rentals.get(id)
      if (rental.unwanted && isUnderWay(rental) && !ending.aborted) await undoRental(parts, id)
      retries.over(id)
    } catch (error) {
      if (ending.aborted) return
      if (isRefusal(error)) {
        // A refused key says nothing about the instance.
        retries.refused(id, next === 'done' ? 'undo' : next)
        await rentals.update(id, { problem: problemOf(error) })
      } else {
        retries.over(id)
        await endRental(parts, id, 'failed', problemOf(error))
      }
    } finally {
      busy.delete(id)
    }
  }

  return {
    work,
    isBusy: id => busy.has(id),
    goOn() {
      for (const [id, next] of retries.due()) {
        const rental = rentals.find(id)
        if (rental && isUnderWay(rental)) void work(id, next)
        else retries.over(id)
      }
    },
  }
}

async function step(parts: RentalParts, next: Work, rental: Rental): Promise<Work | 'done'> {
  if (next === 'undo') return 'done'
  return next === 'ask' ? ask(parts, rental) : searchForLost(parts, rental.id, next === 'find')
}

/** Requests the instance and returns how to continue. Throws where the key is refused and nothing was created. */
async function ask(parts: RentalParts, rental: Rental): Promise<'ask' | 'find' | 'find or give up' | 'done'> {
  const { context, rentals, secrets } = parts
  const { account, store, client, ending } = context
  if (rental.unwanted) return 'done'
  const request = await secrets.restore(rental, rental.request)
  if (!request) {
    await endRental(parts, rental.id, 'failed', sentenceFor('secrets_lost'))
    return 'done'
  }
  try {
    await rentals.intend(rental.id, { step: 'asking', asked: rental.asked + 1 })
  } catch (error) {
    // A failure could not be written either: it would be told here, and the next start would rent all the same.
    await rentals.update(rental.id, { problem: problemOf(error) })
    await sleep(context, askAgainAfter)
    return 'ask'
  }
  const { id, asked, unwanted } = rentals.get(rental.id)
  if (unwanted) return 'done'
  // A deployment that goes beyond the interface has runtypes and fields of its own.
  const isBeyondInterface = store.get().accounts[account]?.beyondInterface === true
  let created: Creation
  try {
    const body = requestBody(request, id, isBeyondInterface)
    const options = { signal: ending, timeout: creationTimeout }
    created = await client().offers.createInstance(request.offer, body, options)
  } catch (error) {
    if (ending.aborted) return 'done'
    const ambiguous = error instanceof ServiceError && error.ambiguous
    if (isRefusal(error) && asked === 1 && forgivesRefusedKey(rental)) {
      await rentals.update(id, { asked: 0, refused: true })
      throw error
    }
    if (!ambiguous && asked === 1) {
      await endRental(parts, id, 'failed', creationProblem(error))
      return 'done'
    }
    await rentals.update(id, { step: 'lost', problem: creationProblem(error) })
    return error instanceof ServiceError && error.ambiguous && !saysNo(error) ? 'find' : 'find or give up'
  }
  if (ending.aborted) return 'done'
  const { new_contract: instance, instance_api_key: instanceKey, success } = created
  if (rental.before.includes(instance)) {
    // It belongs to something else, which must not be destroyed in this rental's place.
    await rentals.update(id, { step: 'lost', problem: sentenceFor('not_new') })
    return 'find or give up'
  }
  await adoptInstance(parts, id, instance, { instanceKey, queued: success === false })
  return 'done'
}

/** Whether it is a refusal in a 2xx: the instance is searched for, as after a lost answer, but not requested again. */
function saysNo({ status, code }: ServiceError): boolean {
  return status >= 200 && status < 300 && code !== 'bad_answer' && code !== 'too_large'
}

/** The problem shown for a failed creation. An offer that the service no longer knows was taken by someone else. */
function creationProblem(error: unknown): Problem {
  const lacking = lackedBy(error, 'instance_write')
  if (lacking) return lacking
  const { facts, ...problem } = problemOf(error)
  const told = isOfferGone(error) ? sentenceFor('offer_gone') : problem
  return facts ? { ...told, facts } : told
}

/** Deployments use several statuses for it, and some only the text beside another code. */
function isOfferGone(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return false
  return error.status === 404 || (error.status < 500 && /\bno_such_ask\b/.test(error.detail ?? ''))
}

/**
 * An attempt retries its first refused key, which may be temporary, as no user is there to retry. Nothing was created,
 * so that request does not count.
 */
function forgivesRefusedKey({ owner, refused }: Rental): boolean {
  return owner !== undefined && !refused
}
