import { rentalOf } from '#core/instances/mark.ts'
import type { Instance, InstanceList } from '#service/instances.ts'
import { isUnderWay, type Rental } from '../model.ts'

/** The result of searching a poll for a rental whose answer was lost. */
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
 * such instance, it is the rental's; if there are several, or it began earlier, the user decides. A record with a label
 * or an environment but no mark belongs to someone else. `taken`: the instances of other rentals. For an attempt
 * nothing is guessed, since it may be destroyed without asking: another Berth may be trying something on the same
 * account.
 */
export function findLost(
  rental: Pick<Rental, 'id' | 'before' | 'startedAt' | 'owner'>,
  records: readonly Instance[],
  taken: ReadonlySet<number>,
): Finding {
  const [found, ...surplus] = markedBy(rental.id, records)
  if (found !== undefined) return { found, surplus }

  const old = new Set(rental.before)
  const candidates = records.filter(
    record => hidesMark(record) && !old.has(record.id) && !taken.has(record.id),
  )
  const [only, second] = candidates
  if (only === undefined) return { found: undefined }
  const older = (only.start_date ?? rental.startedAt) < rental.startedAt - uncertainty
  return second === undefined && !older && rental.owner === undefined
    ? { found: only.id, guessed: true, surplus: [] }
    : { unclear: sortedIds(candidates) }
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
  known: readonly number[],
): boolean {
  const listed = new Set([...instances, ...unread].map(({ id }) => id))
  return (
    cutShort === undefined &&
    unread.every(({ id }) => id !== undefined && before.includes(id)) &&
    known.every(id => listed.has(id))
  )
}

/** Instances with a rental's mark that appeared late: a second one, or one after the rental had ended. */
export function lateComers(rental: Rental, records: readonly Instance[]): number[] {
  const { id, instance, asked } = rental
  const mayBeLate = instance === undefined ? asked > 0 && !isUnderWay(rental) : asked > 1
  return mayBeLate ? markedBy(id, records).filter(one => one !== instance) : []
}

/** The instances that carry a rental's mark, the oldest first. */
function markedBy(rental: string, records: readonly Instance[]): number[] {
  return sortedIds(records.filter(record => markOf(record) === rental))
}

function sortedIds(records: readonly Instance[]): number[] {
  return records.map(({ id }) => id).sort((a, b) => a - b)
}

function markOf({ label, extra_env }: Instance): string | undefined {
  return rentalOf(label, extra_env ?? [])
}

/** Whether the record shows neither label nor environment, so that a mark could not be seen. */
function hidesMark({ label, extra_env }: Instance): boolean {
  return label === undefined && extra_env === undefined
}
