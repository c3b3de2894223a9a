import type { Instance, InstanceList, ListOptions } from '#service/instances.ts'
import type { Poll } from './poll-account.ts'

/** An account's instances after a poll. */
export interface InstanceListing {
  /** The instances that the service listed. */
  instances: readonly Instance[]
  /** Expected instances that were not listed but may exist all the same. */
  unconfirmed: readonly number[]
  /** Expected instances whose absence a request for each confirmed. */
  gone: readonly number[]
  /** Why the list is uncertain, in sentences; undefined where it is certain. */
  doubt?: string
}

/** A poll whose list of instances was verified where necessary. */
export type CertainPoll =
  | Exclude<Poll, { outcome: 'seen' }>
  | (Omit<Seen, 'list'> & { listing?: InstanceListing })

type Seen = Extract<Poll, { outcome: 'seen' }>

/** An instance that the list should contain. */
export interface Expected {
  id: number
  /** Created so recently that the service may not list it yet, which is no reason to doubt the list. */
  isYoung?: boolean
  /** Whether it is worth a separate call at every poll. */
  isLimited?: boolean
}

/** The answer about a single instance: its record, that it is gone, or undefined. */
export type InstanceAnswer = Instance | 'gone' | 'unknown'

/** The calls to the service. */
export interface Questions {
  poll(options: Pick<ListOptions, 'anew' | 'onPart'>): Promise<Poll>
  one(instance: number): Promise<InstanceAnswer>
}

/** The most calls about single instances in one poll: a service may allow only one in two seconds. */
const MOST_ASKED = 5
/** The most instances that are taken over from lists. Accounts have far fewer; a hostile service may invent more. */
export const MOST_INSTANCES = 2000

/**
 * Polls and verifies the list, since a proxy's fault can look like an account without instances, and a list may be cut
 * short. Instances of `expected` that are missing or unreadable are asked for one by one, a few in each poll. Where the
 * list proves wrong, it is fetched again in any way the service offers; if that fails, the whole poll fails.
 * `onPart` is called with the part of a list in pages that came so far, which proves nothing about other instances.
 */
export async function pollAll(
  { poll, one }: Questions,
  expected: () => readonly Expected[],
  onPart?: (listing: InstanceListing) => void,
): Promise<CertainPoll> {
  const first = await poll({ onPart: onPart && (part => onPart(partOf(part, expected()))) })
  if (first.outcome !== 'seen' || !first.list) return first
  const expectedInstances = expected()
  const answers = new Map<number, Instance>()
  const gone = new Set<number>()
  const doubtful = questionable(expectedInstances, first.list)
  await askByThemselves(doubtful, one, answers, gone)
  const confirmed = [...gone]
  // Where all requested ones are gone and the service's own count agrees, the list is right about the others too.
  if (gone.size === MOST_ASKED && first.list.counted && first.list.unread.length === 0)
    for (const { id, isLimited } of doubtful) if (!isLimited) gone.add(id)

  const lies = first.list.cutShort !== undefined || lacks(first.list, [...answers.keys()])
  if (!lies)
    return {
      ...first,
      listing: { ...listingOf([first.list], expectedInstances, answers, gone), gone: confirmed },
    }
  const second = await poll({ anew: true })
  if (second.outcome !== 'seen' || !second.list) return second
  const listing = listingOf([second.list, first.list], expectedInstances, answers, gone)
  return { ...second, listing: { ...listing, gone: confirmed } }
}

/**
 * Limited instances first; among them the missing ones before the unreadable ones. Where there are more than are asked
 * for, those that are come from all over the list.
 */
function questionable(expected: readonly Expected[], { instances, unread }: InstanceList): Expected[] {
  const there = new Set(instances.map(({ id }) => id))
  const expectedIds = new Set(expected.map(({ id }) => id))
  const strangers: Expected[] = unread.flatMap(({ id }) =>
    id === undefined || expectedIds.has(id) ? [] : [{ id }],
  )
  const doubtful = [...expected, ...strangers].filter(({ id, isYoung }) => !there.has(id) && !isYoung)
  const limited = doubtful.filter(({ isLimited }) => isLimited)
  const others = doubtful.filter(({ isLimited }) => !isLimited)
  const step = Math.max(1, Math.floor(others.length / MOST_ASKED))
  const first = others.filter((_, at) => at % step === 0).slice(0, MOST_ASKED)
  const taken = new Set(first)
  return [...limited, ...first, ...others.filter(one => !taken.has(one))]
}

/** Instances without a limit only until one is found: then the list is wrong, and fetching it again tells more. */
async function askByThemselves(
  questionable: readonly Expected[],
  one: Questions['one'],
  answers: Map<number, Instance>,
  gone: Set<number>,
): Promise<void> {
  let isWrong = false
  for (const { id, isLimited } of questionable.slice(0, MOST_ASKED)) {
    if (isWrong && !isLimited) return
    const answer = await one(id)
    if (answer === 'gone') gone.add(id)
    else isWrong = true
    if (typeof answer === 'object') answers.set(id, answer)
  }
}

/** Whether one of these is missing from the list. */
function lacks({ instances, unread }: InstanceList, ids: readonly number[]): boolean {
  const spokenOf = new Set([...instances, ...unread].map(({ id }) => id))
  return !spokenOf.has(undefined) && ids.some(id => !spokenOf.has(id))
}

/** Combines the lists and the answers about single instances; the first list is the newest. */
function listingOf(
  lists: readonly InstanceList[],
  expected: readonly Expected[],
  answers: ReadonlyMap<number, Instance>,
  gone: ReadonlySet<number>,
): Omit<InstanceListing, 'gone'> {
  const [newest] = lists
  const wantedIds = new Set(expected.map(({ id }) => id))
  const instances = new Map<number, Instance>()
  let room = MOST_INSTANCES - expected.length
  for (const instance of newest?.instances ?? []) {
    const { id, actual_status } = instance
    const before = instances.get(id)
    // Of two records of one instance, the one counts in which it runs, and costs.
    if (before && (before.actual_status === 'running' || actual_status !== 'running')) continue
    if (wantedIds.has(id) || before || room-- > 0) instances.set(id, instance)
  }
  for (const [id, instance] of [
    ...answers,
    ...lists.flatMap(list => list.instances.map(one => [one.id, one] as const)),
  ])
    if (!instances.has(id) && !gone.has(id) && (wantedIds.has(id) || answers.has(id)))
      instances.set(id, instance)
  const missing = expected.filter(({ id }) => !instances.has(id) && !gone.has(id))
  const unlisted = newest === undefined ? [] : [...answers.keys()].filter(id => lacks(newest, [id]))
  const doubt = doubtOf(
    newest,
    Math.max(0, -room),
    missing.filter(({ isYoung }) => !isYoung).length + unlisted.length,
    instances,
  )
  return { instances: [...instances.values()], unconfirmed: missing.map(({ id }) => id), doubt }
}

function partOf(list: InstanceList, expected: readonly Expected[]): InstanceListing {
  const listing = listingOf([list], expected, new Map(), new Set())
  const came = instancesIn(listing.instances.length)
  return { ...listing, gone: [], doubt: `The instance list is still loading: ${came} so far.` }
}

function doubtOf(
  list: InstanceList | undefined,
  tooMany: number,
  lacking: number,
  instances: ReadonlyMap<number, Instance>,
): string | undefined {
  const unread = list?.unread.filter(({ id }) => id === undefined || !instances.has(id)).length ?? 0
  const reasons = [
    list?.cutShort,
    tooMany > 0 ? `the service counts ${instancesIn(tooMany)} more than it lists` : undefined,
    lacking > 0 && unread === 0 ? `${instancesIn(lacking)} that may still exist are missing` : undefined,
    unread > 0 ? `${instancesIn(unread)} could not be read` : undefined,
  ].filter(reason => reason !== undefined)
  return reasons.length === 0 ? undefined : `The instance list is incomplete: ${reasons.join('; ')}.`
}

function instancesIn(count: number): string {
  return count === 1 ? 'one instance' : `${count} instances`
}
