import type { Instance, InstanceList } from '../../../service/instances.ts'
import type { Poll } from './poll.ts'

/** What is known of an account's instances after a poll. */
export interface Listing {
  /** Those that the service told of just now. */
  instances: readonly Instance[]
  /** Those that were expected, that nothing was told of, and that may be there all the same. */
  unconfirmed: readonly number[]
  /** Why the list is not certain, in sentences; undefined where it is. */
  doubt?: string
}

/** A poll whose list of instances has been doubted where it had to be. */
export type CertainPoll = Exclude<Poll, { outcome: 'seen' }> | (Omit<Seen, 'list'> & { listing?: Listing })

type Seen = Extract<Poll, { outcome: 'seen' }>

/** An instance that a list should have. */
export interface Expected {
  id: number
  /** It was made so lately that the service may not show it yet, which is no reason to doubt anything. */
  isYoung?: boolean
  /** It is worth a question of its own at every poll. */
  isGuarded?: boolean
}

/** What asking for one instance by itself came to: its record, that it is gone, or nothing. */
export type InstanceAnswer = Instance | 'gone' | 'unknown'

/** How the service is asked. */
export interface Questions {
  /** `anew`: without believing what was learnt of how the service lists instances. */
  poll(anew: boolean): Promise<Poll>
  one(instance: number): Promise<InstanceAnswer>
}

/** Instances that are asked for by themselves in one poll, at the most: a service may allow one in two seconds. */
const MOST_ASKED = 5

/**
 * Polls, and believes a list only as far as it can be: a proxy's hiccup can look like an account without instances, and
 * a list may be cut short without a word. What is missing of `expected`, or could not be read, is asked for by itself.
 * Where the list proves wrong, it is asked for once more, in whichever way the service has now; where that second poll
 * comes to nothing, so does all.
 */
export async function pollAll(
  { poll, one }: Questions,
  expected: () => readonly Expected[],
): Promise<CertainPoll> {
  const first = await poll(false)
  if (first.outcome !== 'seen' || !first.list) return first
  const wanted = expected()
  const told = new Map<number, Instance>()
  const gone = new Set<number>()
  await askByThemselves(questionable(wanted, first.list), one, told, gone)

  const lies = first.list.cutShort !== undefined || lacks(first.list, [...told.keys()])
  if (!lies) return { ...first, listing: listingOf([first.list], wanted, told, gone) }
  const second = await poll(true)
  if (second.outcome !== 'seen' || !second.list) return second
  return { ...second, listing: listingOf([second.list, first.list], wanted, told, gone) }
}

/** Guarded ones first, and of those the list is silent about before those it could not tell of. */
function questionable(wanted: readonly Expected[], { instances, unread }: InstanceList): Expected[] {
  const there = new Set(instances.map(({ id }) => id))
  const known = new Set(wanted.map(({ id }) => id))
  const strangers: Expected[] = unread.flatMap(({ id }) =>
    id === undefined || known.has(id) ? [] : [{ id }],
  )
  return [...wanted, ...strangers]
    .filter(({ id, isYoung }) => !there.has(id) && !isYoung)
    .sort((a, b) => Number(b.isGuarded ?? false) - Number(a.isGuarded ?? false))
}

/** Of those without a guard, only until one is there: the list is wrong then, and asking for it again tells more. */
async function askByThemselves(
  questionable: readonly Expected[],
  one: Questions['one'],
  told: Map<number, Instance>,
  gone: Set<number>,
): Promise<void> {
  let isWrong = false
  for (const { id, isGuarded } of questionable.slice(0, MOST_ASKED)) {
    if (isWrong && !isGuarded) return
    const answer = await one(id)
    if (answer === 'gone') gone.add(id)
    else isWrong = true
    if (typeof answer === 'object') told.set(id, answer)
  }
}

/** Whether the list says nothing of one of these. */
function lacks({ instances, unread }: InstanceList, ids: readonly number[]): boolean {
  const spokenOf = new Set([...instances, ...unread].map(({ id }) => id))
  return !spokenOf.has(undefined) && ids.some(id => !spokenOf.has(id))
}

/** What the lists and the answers of single instances say together; the first list is the newest. */
function listingOf(
  lists: readonly InstanceList[],
  wanted: readonly Expected[],
  told: ReadonlyMap<number, Instance>,
  gone: ReadonlySet<number>,
): Listing {
  const [newest] = lists
  const wantedIds = new Set(wanted.map(({ id }) => id))
  const instances = new Map<number, Instance>(newest?.instances.map(instance => [instance.id, instance]))
  for (const [id, instance] of [
    ...told,
    ...lists.flatMap(list => list.instances.map(one => [one.id, one] as const)),
  ])
    if (!instances.has(id) && !gone.has(id) && (wantedIds.has(id) || told.has(id)))
      instances.set(id, instance)
  const missing = wanted.filter(({ id }) => !instances.has(id) && !gone.has(id))
  const unlisted = newest === undefined ? [] : [...told.keys()].filter(id => lacks(newest, [id]))
  const doubt = doubtOf(newest, missing.filter(({ isYoung }) => !isYoung).length + unlisted.length, instances)
  return { instances: [...instances.values()], unconfirmed: missing.map(({ id }) => id), doubt }
}

function doubtOf(
  list: InstanceList | undefined,
  lacking: number,
  instances: ReadonlyMap<number, Instance>,
): string | undefined {
  const unread = list?.unread.filter(({ id }) => id === undefined || !instances.has(id)).length ?? 0
  const reasons = [
    list?.cutShort,
    lacking > 0 && unread === 0 ? `it lacks ${instancesIn(lacking)} that may still be there` : undefined,
    unread > 0 ? `${instancesIn(unread)} could not be read` : undefined,
  ].filter(reason => reason !== undefined)
  return reasons.length === 0 ? undefined : `The list of instances is not certain: ${reasons.join('; ')}.`
}

function instancesIn(count: number): string {
  return count === 1 ? 'one instance' : `${count} instances`
}
