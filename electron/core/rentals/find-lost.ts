import type { Instance } from '../../service/instances.ts'
import { rentalOf } from './mark.ts'
import type { Rental } from './rental.ts'

/** What a look at the account says about a rental whose answer was lost. */
export type Finding =
  | {
      found: number /** further instances with the same mark: rented twice, which must not stay */
      surplus: readonly number[]
    }
  | { unclear: readonly number[] }
  | { found: undefined }

/**
 * By the mark where there is one; else by what is new since the request left and carries no mark of another wish:
 * one such instance is the one, several are for the user to tell apart. A record that shows a label or an environment
 * without the mark is somebody else's. `taken`: instances that other rentals have.
 */
export function findLost(
  rental: Pick<Rental, 'id' | 'before'>,
  records: readonly Instance[],
  taken: ReadonlySet<number>,
): Finding {
  const ids = (some: readonly Instance[]) => some.map(record => record.id).sort((a, b) => a - b)
  const [found, ...surplus] = ids(records.filter(record => markOf(record) === rental.id))
  if (found !== undefined) return { found, surplus }

  const old = new Set(rental.before)
  const strangers = ids(records.filter(cannotBeTold)).filter(id => !old.has(id) && !taken.has(id))
  const [only, second] = strangers
  if (only === undefined) return { found: undefined }
  return second === undefined ? { found: only, surplus: [] } : { unclear: strangers }
}

function markOf({ label, extra_env }: Instance): string | undefined {
  return rentalOf(label, extra_env ?? [])
}

/** Whether the record shows neither label nor environment, so that a mark could not be seen. */
function cannotBeTold({ label, extra_env }: Instance): boolean {
  return label === undefined && extra_env === undefined
}
