import { hidesMark, markOf } from '#core/instances/mark.ts'
import { isRefusal } from '#core/instances/poll-account.ts'
import type { Instance, InstanceList } from '#service/instances.ts'
import {
  adoptInstance,
  askAgainAfter,
  type CreationParts,
  destroySurplus,
  endAttempt,
  letUserSay,
  type WorkDone,
} from './adopt.ts'
import { sentenceFor } from './messages.ts'
import { type Attempt, type Attempts, isProven, isRetrying, isUnderWay, knownInstances } from './rental.ts'

/** The result of searching a poll for an attempt whose answer was lost. */
export type Finding =
  | {
      found: number
      /** It has no visible mark, but is the only candidate. */
      guessed?: true
      /** Further instances with the same mark, rented twice, which must be destroyed. */
      surplus: readonly number[]
    }
  | { unclear: readonly number[] }
  | { found: undefined }

/**
 * Looks for the mark; else for instances that are new since the request and hide their marks. If there is exactly one
 * such instance, it is the attempt's; if there are several, or it began earlier, the user decides. A record with a label
 * or an environment but no mark belongs to someone else. `taken`: the instances of other attempts. With retries
 * `mayGuess` is false, since an attempt may be destroyed without asking: another Berth may be trying something on the same
 * account.
 */
export function findLost(
  attempt: Pick<Attempt, 'mark' | 'before' | 'startedAt'>,
  mayGuess: boolean,
  records: readonly Instance[],
  taken: ReadonlySet<number>,
): Finding {
  const [found, ...surplus] = markedBy(attempt.mark, records)
  if (found !== undefined) return { found, surplus }

  const old = new Set(attempt.before)
  const candidates = records.filter(
    record => hidesMark(record) && !old.has(record.id) && !taken.has(record.id),
  )
  const [only, second] = candidates
  if (only === undefined) return { found: undefined }
  const older = (only.start_date ?? attempt.startedAt) < attempt.startedAt - uncertainty
  return second === undefined && !older && mayGuess
    ? { found: only.id, guessed: true, surplus: [] }
    : { unclear: sortedIds(candidates) }
}

/**
 * Whether an instance that the service names as an attempt's is not: it was there before, belongs to another attempt
 * (`taken`), or its record, where there is one already, shows another mark or none.
 */
export function isSomeoneElses(
  { mark, before, startedAt }: Pick<Attempt, 'mark' | 'before' | 'startedAt'>,
  record: Instance,
  taken: ReadonlySet<number>,
): boolean {
  if (before.includes(record.id) || taken.has(record.id)) return true
  if (markOf(record) === mark) return false
  return !hidesMark(record) || (record.start_date ?? startedAt) < startedAt - uncertainty
}

/**
 * The instance that the service named for an attempt, where it may be its own though it shows no mark, as where a service
 * changes labels: only the user can say.
 */
export function doubtful(
  { before, startedAt }: Pick<Attempt, 'before' | 'startedAt'>,
  record: Instance | undefined,
  taken: ReadonlySet<number>,
): number[] {
  if (!record || before.includes(record.id) || taken.has(record.id) || markOf(record) !== undefined) return []
  return (record.start_date ?? startedAt) < startedAt - uncertainty ? [] : [record.id]
}

/**
 * What a whole list says of the instance that the service named as an attempt's: that it is, that it is not, or nothing yet.
 * The mark decides. `isMissing`: enough lists in a row lacked it.
 */
export function verdictOn(
  attempt: Pick<Attempt, 'mark' | 'before' | 'startedAt' | 'instance'>,
  records: readonly Instance[],
  isMissing: boolean,
  taken: ReadonlySet<number>,
): 'own' | 'wrong' | undefined {
  const { mark, instance } = attempt
  const named = records.find(({ id }) => id === instance)
  if (named && markOf(named) === mark) return 'own'
  if (markedBy(mark, records).length > 0) return 'wrong'
  if (named) return hidesMark(named) ? 'own' : 'wrong'
  if (!isMissing) return undefined
  const finding = findLost(attempt, true, records, taken)
  return 'unclear' in finding || finding.found !== undefined ? 'wrong' : undefined
}

/** The instances of all attempts but one. */
export function takenBesides(attempts: Pick<Attempts, 'all'>, mark: string): ReadonlySet<number> {
  return new Set(attempts.all().flatMap(other => (other.mark === mark ? [] : (other.instance ?? []))))
}

/** Seconds by which Berth's estimate of the account's time may be wrong. */
const uncertainty = 60

/**
 * Whether an instance that the list lacks does not exist: nothing was left out, no unreadable record can be newer than
 * `before`, and all `known` ones are listed.
 */
export function isListWhole(
  { instances, unread, cutShort }: InstanceList,
  before: readonly number[],
  knownIds: readonly number[],
): boolean {
  const listed = new Set([...instances, ...unread].map(({ id }) => id))
  return (
    cutShort === undefined &&
    unread.every(({ id }) => id !== undefined && before.includes(id)) &&
    knownIds.every(id => listed.has(id))
  )
}

/** Instances with an attempt's mark that appeared late: a second one, or one after the attempt had ended. */
export function lateComers(attempt: Attempt, records: readonly Instance[]): number[] {
  const { mark, instance, requestCount } = attempt
  if (isProven(attempt))
    return requestCount > 1 ? markedBy(mark, records).filter(one => one !== instance) : []
  return requestCount > 0 && !isUnderWay(attempt) ? markedBy(mark, records) : []
}

/** The instances that carry a mark, the oldest first. */
export function markedBy(mark: string, records: readonly Instance[]): number[] {
  return sortedIds(records.filter(record => markOf(record) === mark))
}

function sortedIds(records: readonly Instance[]): number[] {
  return records.map(({ id }) => id).sort((a, b) => a - b)
}

/** Milliseconds before each of the first searches for a lost instance; later ones come every `askAgainAfter`. */
const findAfter = [500, 1500, 3000, 5000]
/** Seconds of the account's time in which a new instance is listed; one that is not found by then was not created. */
const appearsWithin = 90
/** The most requests to the service for one attempt. */
const mostAsked = 3

/** A search for the instance of a lost answer. */
export interface LostSearch {
  /** When it began, epoch seconds of the account's time. */
  from: number
  /** The complete lists that have shown nothing. */
  round: number
}

/** Begins to search, first in so many milliseconds. */
export async function beginSearch(
  { context, attempts }: CreationParts,
  mark: string,
): Promise<{ search: LostSearch; after: number }> {
  await attempts.update(mark, { step: 'lost' })
  return { search: { from: context.now(), round: 0 }, after: pauseBefore(0) }
}

const pauseBefore = (round: number) => findAfter[round] ?? askAgainAfter

/** Looks for the instance of a lost answer, again until it is found or has had enough time to appear. */
export async function searchForLost(
  parts: CreationParts,
  mark: string,
  work: 'find' | 'find or give up',
  search: LostSearch,
): Promise<WorkDone> {
  const { context, attempts } = parts
  const finding = await searchOnce(parts, mark, search.round === 0)
  if (context.quitting.aborted) return 'done'
  if (!finding) return { work, after: askAgainAfter }
  if ('unclear' in finding) {
    await letUserSay(parts, mark, finding.unclear)
    return 'done'
  }
  if (finding.found !== undefined) {
    await adoptInstance(parts, mark, finding.found, finding)
    await destroySurplus(context, finding.surplus)
    return 'done'
  }
  search.round += 1
  const mayStillAppear = Math.abs(context.now() - search.from) < appearsWithin
  if (search.round < findAfter.length || mayStillAppear) return { work, after: pauseBefore(search.round) }
  const { unwanted, requestCount, problem, candidates = [] } = attempts.get(mark)
  const named = candidates.filter(id => context.record(id) !== undefined)
  if (named.length > 0) {
    await letUserSay(parts, mark, named)
    return 'done'
  }
  if (unwanted) return 'done'
  if (work === 'find' && requestCount < mostAsked) return { work: 'ask' }
  await endAttempt(parts, mark, 'failed', problem ?? sentenceFor('not_created'))
  return 'done'
}

/** Searches one new list; undefined where it is not complete. */
async function searchOnce(
  { context, attempts }: CreationParts,
  mark: string,
  anew: boolean,
): Promise<Finding | undefined> {
  const { client, quitting } = context
  try {
    const list = await client().instances.list({ signal: quitting, anew })
    if (quitting.aborted) return undefined
    const attempt = attempts.get(mark)
    const taken = takenBesides(attempts, mark)
    const finding = findLost(attempt, !isRetrying(attempt.rental), list.instances, taken)
    const isFound = 'found' in finding && finding.found !== undefined
    // A list that may be incomplete proves nothing: asking again could rent it twice.
    if (isFound || isListWhole(list, attempt.before, knownInstances(context))) return finding
    await attempts.update(mark, { problem: sentenceFor('list_uncertain') })
  } catch (error) {
    if (isRefusal(error)) throw error
  }
  return undefined
}
