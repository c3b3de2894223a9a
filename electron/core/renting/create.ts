import { problemOf } from '#core/bridge/problems.ts'
import { markLabel, markVariable } from '#core/instances/mark.ts'
import { isRefusal } from '#core/instances/poll-account.ts'
import { pauseAfterRefusal } from '#core/instances/repeated-polls.ts'
import { withWatchdogScript } from '#core/watchdogs/rental-script.ts'
import type { NewInstance, VolumeInfo } from '#service/new-instance.ts'
import type { Creation as CreationAnswer } from '#service/offers.ts'
import { ServiceError } from '#service/service-error.ts'
import { type RentRequest, startScriptTooLong } from '#shared/market/rent-request.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { AccountView } from '#shared/state.ts'
import { requestInScript } from '#ssh/watchdog/start-script.ts'
import { lackedBy } from '../bridge/problems.ts'
import { type FailedTurn, type Next, Worker } from '../engine/worker.ts'
import {
  adoptInstance,
  askAgainAfter,
  type CreationParts,
  endAttempt,
  reservationOf,
  undoAttempt,
  type Work,
  type WorkDone,
} from './adopt.ts'
import {
  beginSearch,
  doubtful,
  isSomeoneElses,
  type LostSearch,
  searchForLost,
  takenBesides,
} from './find-lost.ts'
import { sentenceFor } from './messages.ts'
import { isRetrying, isUnderWay, limitsLeftOf, type RentalAttempt, rentedAs, requestOf } from './rental.ts'

/** Milliseconds for the service to create an instance. */
const creationTimeout = 30_000

/** How many refusals are retried at the very next successful poll. */
const passing = 2

/** Takes attempts from the request to an instance, or to their failure. */
export class InstanceCreation {
  readonly #parts: CreationParts
  readonly #worker: Worker<string>
  /** What is done next for each attempt in progress. */
  readonly #works = new Map<string, Work>()
  readonly #searches = new Map<string, LostSearch>()

  constructor(parts: CreationParts) {
    const { quitting, platform } = parts.context
    this.#parts = parts
    this.#worker = new Worker({
      clock: platform.clock,
      quitting,
      turn: mark => this.#turn(mark),
      hindered: (mark, failure) => this.#hindered(mark, failure),
    })
  }

  /**
   * Continues until the attempt has ended, Berth ends, or the key is refused, which stops it for now. A second call
   * meanwhile does nothing.
   */
  work(mark: string, first: Work): void {
    if (this.#worker.isBusy(mark)) return
    this.#searches.delete(mark)
    this.#works.set(mark, first)
    this.#worker.hurry(mark)
  }

  isBusy(mark: string): boolean {
    return this.#worker.isBusy(mark)
  }

  /** Call after a poll showed that the key works: attempts stopped by a refusal continue. */
  goOn(): void {
    for (const mark of this.#works.keys()) {
      if (this.#worker.isBusy(mark)) continue
      const attempt = this.#parts.attempts.find(mark)
      if (attempt && isUnderWay(attempt)) this.#worker.wake(mark)
      else this.#works.delete(mark)
    }
  }

  async #turn(mark: string): Promise<Next> {
    const { attempts } = this.#parts
    const work = this.#works.get(mark)
    if (!work) return 'rest'
    const done = await this.#perform(work, attempts.get(mark))
    const { unwanted, step } = attempts.get(mark)
    const isToUndo = done === 'done' && work !== 'undo' && unwanted && isUnderWay({ step })
    const next = isToUndo ? { work: 'undo' as const } : done
    if (next === 'done' || next.work !== work) this.#searches.delete(mark)
    if (next === 'done') {
      this.#works.delete(mark)
      return 'rest'
    }
    this.#works.set(mark, next.work)
    return next.after === undefined ? 'again' : { after: next.after }
  }

  async #perform(work: Work, attempt: RentalAttempt): Promise<WorkDone> {
    const { mark, unwanted } = attempt
    if (work === 'ask') return ask(this.#parts, attempt)
    if (work === 'undo') return unwanted && isUnderWay(attempt) ? undoAttempt(this.#parts, mark) : 'done'
    const search = this.#searches.get(mark)
    if (search) return searchForLost(this.#parts, mark, work, search)
    const { search: begun, after } = await beginSearch(this.#parts, mark)
    this.#searches.set(mark, begun)
    return { work, after }
  }

  /** A refused key says nothing about the instance: it may be temporary, and is retried after a poll with the key. */
  async #hindered(mark: string, { error, problem, fails }: FailedTurn): Promise<Next> {
    this.#searches.delete(mark)
    if (isRefusal(error)) {
      await this.#parts.attempts.update(mark, { problem })
      return { wokenAfter: fails < passing ? 0 : pauseAfterRefusal(fails + 1, 0.5) }
    }
    this.#works.delete(mark)
    await endAttempt(this.#parts, mark, 'failed', problem)
    return 'rest'
  }
}

/** Requests the instance. Throws where the key is refused and nothing was created. */
async function ask(parts: CreationParts, attempt: RentalAttempt): Promise<WorkDone> {
  const { context, attempts, secrets, ledger } = parts
  const { mark } = attempt
  const { account, store, client, quitting } = context
  if (attempt.unwanted) return 'done'
  const restored = await secrets.restore(attempt.rental.id, requestOf(attempt))
  if (!restored) {
    await endAttempt(parts, mark, 'failed', sentenceFor('secrets_lost'))
    return 'done'
  }
  const overCap = await ledger.reserve(reservationOf(attempt, parts))
  if (overCap) {
    await endAttempt(parts, mark, 'failed', overCap)
    return 'done'
  }
  const terms = { limits: limitsLeftOf(attempt.rental), price: rentedAs(attempt).agreed?.running }
  const request = await withWatchdogScript(restored, store.get().accounts[account], context.now(), terms)
  try {
    await attempts.intend(mark, {
      step: 'asking',
      requestCount: attempt.requestCount + 1,
      askedAt: context.now(),
      brought: requestInScript(request.onstart),
    })
  } catch (error) {
    // A failure could not be written either: it would be reported here, and the next start would still rent.
    await attempts.update(mark, { problem: problemOf(error) })
    return { work: 'ask', after: askAgainAfter }
  }
  const { requestCount, unwanted } = attempts.get(mark)
  if (unwanted) return 'done'
  let created: CreationAnswer
  try {
    checkLengths(request, store.get().accounts[account])
    const body = requestBody(request, mark)
    const options = { signal: quitting, timeout: creationTimeout }
    created = await client().offers.createInstance(request.offer, body, options)
  } catch (error) {
    if (quitting.aborted) return 'done'
    if (isTooSoon(error) && context.now() - attempt.startedAt < refusedFor) {
      // Nothing was created, and the offer may still be free.
      await attempts.update(mark, { requestCount: requestCount - 1, problem: problemOf(error) })
      return { work: 'ask', after: askAgainAfter }
    }
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
    const mayBeThere = error instanceof ServiceError && error.ambiguous && !saysNo(error)
    return { work: mayBeThere ? 'find' : 'find or give up' }
  }
  if (quitting.aborted) return 'done'
  const { new_contract: instance, instance_api_key: instanceKey, success } = created
  const taken = takenBesides(attempts, mark)
  if (isSomeoneElses(attempt, { id: instance, ...context.record(instance) }, taken)) {
    // It belongs to something else, which must not be destroyed in this try's place.
    const candidates = doubtful(attempt, context.record(instance), taken)
    await attempts.update(mark, { step: 'lost', candidates, problem: sentenceFor('not_new') })
    return { work: 'find or give up' }
  }
  await adoptInstance(parts, mark, instance, { instanceKey, queued: success === false })
  return 'done'
}

/** Seconds of the account's time for which a creation is repeated that came too soon after others. */
const refusedFor = 600

function isTooSoon(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'rate_limited' && !error.ambiguous
}

/** Whether it is a refusal in a 2xx, or a 404: the instance is searched for, as after a lost answer, but not requested again. */
function saysNo({ status, code }: ServiceError): boolean {
  if (status === 404) return true
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
  return (
    (error.status === 404 && !error.ambiguous) ||
    (error.status < 500 && /\bno_such_ask\b/.test(error.detail ?? ''))
  )
}

/**
 * A rental with retries repeats its first refused key, which may be temporary, as no user is there to retry. Nothing was
 * created, so that request does not count.
 */
function forgivesRefusedKey({ rental, refused }: RentalAttempt): boolean {
  return isRetrying(rental) && !refused
}

/**
 * The rent dialog's request in the form of section 4.2, with the rental's mark in label and environment. An empty text
 * overrides a template's, so it is sent.
 */
export function requestBody(request: RentRequest, rental: string): NewInstance {
  const { image, disk, access, direct, onstart, label, bid, template, args, volume, overlay, registry } =
    request
  return {
    image: image || undefined,
    template_hash_id: template?.hash,
    disk,
    access,
    direct,
    ...(access === 'jupyter' ? jupyterFields(request) : {}),
    registry,
    env: {
      ...Object.fromEntries(request.env.map(({ name, value }) => [name, value])),
      ...Object.fromEntries(request.ports.map(port => [portFlag(port), '1'])),
      [markVariable]: rental,
      ...(overlay ? { [`-n ${overlay.name}`]: '1' } : {}),
    },
    label: markLabel(label, rental),
    ...(onstart || (template && onstart !== undefined) ? { onstart } : {}),
    ...(access === 'none' && (args || (template && args !== undefined)) ? { args_str: args } : {}),
    ...(volume ? { volume_info: volumeInfo(volume) } : {}),
    ...(bid === undefined ? {} : { price: bid }),
  }
}

/** Throws `invalid_argument` if a value is longer than the deployment allows, before anything is sent. */
export function checkLengths(
  { onstart = '' }: Pick<RentRequest, 'onstart'>,
  account: Pick<AccountView, 'capabilities'> | undefined,
): void {
  const problem = startScriptTooLong(onstart, account?.capabilities)
  if (problem === undefined) return
  throw new BerthError({
    code: 'invalid_argument',
    message: `The start script is too long. ${problem}`,
    advice: 'Shorten it, or let it fetch the rest.',
    field: 'request.onstart',
  })
}

function jupyterFields({ jupyter, template }: RentRequest): NewInstance {
  if (!jupyter) return template ? {} : { use_jupyter_lab: true }
  const { lab, folder } = jupyter
  return { use_jupyter_lab: lab, jupyter_dir: folder || template ? folder || null : undefined }
}

function volumeInfo(volume: NonNullable<RentRequest['volume']>): VolumeInfo {
  const { create, volume: volume_id, mountPath: mount_path } = volume
  const { size, name } = volume.create ? volume : {}
  return { create_new: create, volume_id, mount_path, size, name }
}

function portFlag({ container, outside = container, protocol }: RentRequest['ports'][number]): string {
  return `-p ${outside}:${container}${protocol === 'udp' ? '/udp' : ''}`
}
