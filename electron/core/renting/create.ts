import { problemOf } from '#core/bridge/problems.ts'
import { isRefusal } from '#core/instances/poll-account.ts'
import { pauseAfterRefusal } from '#core/instances/repeated-polls.ts'
import type { Clock } from '#platform/platform.ts'
import type { Creation as CreationAnswer } from '#service/offers.ts'
import { ServiceError } from '#service/service-error.ts'
import type { Problem } from '#shared/problem.ts'
import { lackedBy } from '../bridge/problems.ts'
import {
  adoptInstance,
  askAgainAfter,
  type CreationParts,
  endAttempt,
  undoAttempt,
  waitFor,
} from './adopt.ts'
import { searchForLost } from './find-lost.ts'
import { sentenceFor } from './messages.ts'
import { isRetrying, isUnderWay, limitsLeftOf, type RentalAttempt, rentedAs, requestOf } from './rental.ts'
import { checkLengths, requestBody } from './requests.ts'

/**
 * Requesting an instance; searching for it after a lost answer, to request it again if there is none, or, after a
 * refused repeat, to give up then. A try that is no longer wanted is undone after each.
 */
export type Work = 'ask' | 'find' | 'find or give up' | 'undo'

/** Milliseconds for the service to create an instance. */
const creationTimeout = 30_000

/** Takes tries from the request to an instance, or to their failure, in one loop per try. */
export function createCreation(parts: CreationParts) {
  const { attempts } = parts
  const { ending, platform } = parts.context
  /** Tries with a running loop. */
  const busy = new Set<string>()
  const retries = createAuthRetries(platform.clock)

  async function work(mark: string, first: Work): Promise<void> {
    if (busy.has(mark) || ending.aborted) return
    busy.add(mark)
    let next: Work | 'done' = first
    try {
      while (next !== 'done' && !ending.aborted) next = await step(parts, next, attempts.get(mark))
      const attempt = attempts.get(mark)
      if (attempt.unwanted && isUnderWay(attempt) && !ending.aborted) await undoAttempt(parts, mark)
      retries.finish(mark)
    } catch (error) {
      if (ending.aborted) return
      if (isRefusal(error)) {
        // A refused key says nothing about the instance.
        retries.refused(mark, next === 'done' ? 'undo' : next)
        await attempts.update(mark, { problem: problemOf(error) })
      } else {
        retries.finish(mark)
        await endAttempt(parts, mark, 'failed', problemOf(error))
      }
    } finally {
      busy.delete(mark)
    }
  }

  return {
    /**
     * Continues until the try has ended, Berth ends, or the key is refused, which stops it for now; never rejects. A
     * second call meanwhile does nothing.
     */
    work,
    isBusy: (mark: string): boolean => busy.has(mark),
    /** Call after a poll showed that the key works: tries stopped by a refusal continue. */
    goOn(): void {
      for (const [mark, next] of retries.due()) {
        const attempt = attempts.find(mark)
        if (attempt && isUnderWay(attempt)) void work(mark, next)
        else retries.finish(mark)
      }
    },
  }
}

async function step(parts: CreationParts, next: Work, attempt: RentalAttempt): Promise<Work | 'done'> {
  if (next === 'undo') return 'done'
  return next === 'ask' ? ask(parts, attempt) : searchForLost(parts, attempt.mark, next === 'find')
}

/** Requests the instance and returns how to continue. Throws where the key is refused and nothing was created. */
async function ask(
  parts: CreationParts,
  attempt: RentalAttempt,
): Promise<'ask' | 'find' | 'find or give up' | 'done'> {
  const { context, attempts, secrets, hooks } = parts
  const { mark } = attempt
  const { account, store, client, ending } = context
  if (attempt.unwanted) return 'done'
  const restored = await secrets.restore(attempt.rental.id, requestOf(attempt))
  if (!restored) {
    await endAttempt(parts, mark, 'failed', sentenceFor('secrets_lost'))
    return 'done'
  }
  const limits = limitsLeftOf(attempt.rental)
  const request = await hooks.prepared(restored, { limits, price: rentedAs(attempt).agreed?.running })
  try {
    await attempts.intend(mark, { step: 'asking', requestCount: attempt.requestCount + 1 })
  } catch (error) {
    // A failure could not be written either: it would be reported here, and the next start would still rent.
    await attempts.update(mark, { problem: problemOf(error) })
    await waitFor(context, askAgainAfter)
    return 'ask'
  }
  const { requestCount, unwanted } = attempts.get(mark)
  if (unwanted) return 'done'
  let created: CreationAnswer
  try {
    checkLengths(request, store.get().accounts[account])
    const body = requestBody(request, mark)
    const options = { signal: ending, timeout: creationTimeout }
    created = await client().offers.createInstance(request.offer, body, options)
  } catch (error) {
    if (ending.aborted) return 'done'
    const ambiguous = error instanceof ServiceError && error.ambiguous
    if (isRefusal(error) && requestCount === 1 && forgivesRefusedKey(attempt)) {
      await attempts.update(mark, { requestCount: 0, refused: true })
      throw error
    }
    if (!ambiguous && requestCount === 1) {
      await endAttempt(parts, mark, 'failed', creationProblem(error))
      return 'done'
    }
    await attempts.update(mark, { step: 'lost', problem: creationProblem(error) })
    return error instanceof ServiceError && error.ambiguous && !saysNo(error) ? 'find' : 'find or give up'
  }
  if (ending.aborted) return 'done'
  const { new_contract: instance, instance_api_key: instanceKey, success } = created
  if (attempt.before.includes(instance)) {
    // It belongs to something else, which must not be destroyed in this try's place.
    await attempts.update(mark, { step: 'lost', problem: sentenceFor('not_new') })
    return 'find or give up'
  }
  await adoptInstance(parts, mark, instance, { instanceKey, queued: success === false })
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
  const sentence = isOfferGone(error) ? sentenceFor('offer_gone') : problem
  return facts ? { ...sentence, facts } : sentence
}

/** Deployments use several statuses for it, and some only the text next to another code. */
function isOfferGone(error: unknown): boolean {
  if (!(error instanceof ServiceError)) return false
  return error.status === 404 || (error.status < 500 && /\bno_such_ask\b/.test(error.detail ?? ''))
}

/**
 * A rental with retries repeats its first refused key, which may be temporary, as no user is there to retry. Nothing was
 * created, so that request does not count.
 */
function forgivesRefusedKey({ rental, refused }: RentalAttempt): boolean {
  return isRetrying(rental) && !refused
}

/** How many refusals are retried at the very next successful poll. */
const passing = 2

/**
 * Work that stopped because the key was refused. The refusal may be temporary, so the work continues once a poll shows
 * that the key works. If the poll is allowed and the work is not, retries become rarer.
 */
function createAuthRetries(clock: Clock) {
  const retries = new Map<string, { work: Work; refusals: number; notBefore: number }>()
  return {
    refused(mark: string, work: Work): void {
      const refusals = (retries.get(mark)?.refusals ?? 0) + 1
      const pause = refusals <= passing ? 0 : pauseAfterRefusal(refusals, 0.5)
      retries.set(mark, { work, refusals, notBefore: clock.monotonic() + pause })
    },
    /** The work has succeeded or ended. */
    finish: (mark: string): void => void retries.delete(mark),
    /** The work that may be retried now, after a successful poll. */
    due: (): [mark: string, work: Work][] =>
      [...retries].flatMap(([mark, { work, notBefore }]) =>
        clock.monotonic() >= notBefore ? [[mark, work] as [string, Work]] : [],
      ),
  }
}
