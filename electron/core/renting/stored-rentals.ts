import { BerthError } from '#contract/problem.ts'
import type { AccountView } from '#contract/state.ts'
import type { AccountContext } from '#core/account-context.ts'
import { type Collection, openCollection } from '#core/storage/collection.ts'
import { Rental, type Tried, type Try, withTry } from './rental.ts'

/** The tries of all rentals of one account, by their marks. */
export interface Tries {
  /** Oldest first. */
  all(): readonly Tried[]
  find(mark: string): Tried | undefined
  /** Throws `no_such_rental`. */
  get(mark: string): Tried
  /** A change that must be on disk before an action. Rejects with `not_written`, and then nothing has changed. */
  intend(mark: string, change: Partial<Try>): Promise<void>
  /** Records something that happened; a failed write does not reject. */
  update(mark: string, change: Partial<Try>): Promise<void>
}

/** The rentals of one account, as stored and as shown in State. */
export interface StoredRentals extends Collection<Rental, string> {
  readonly tries: Tries
}

/** The number of ended rentals that are stored, for renting again. */
const mostEnded = 200

const missing = { code: 'no_such_rental', message: 'That rental is no longer on the list.' }

export async function openStoredRentals(
  context: AccountContext,
  view?: (rentals: readonly Rental[]) => Partial<AccountView>,
): Promise<StoredRentals> {
  const rentals = await openCollection(context, {
    name: 'rentals',
    schema: Rental,
    key: ({ id }) => id,
    missing,
    prune: { isOver: ({ step }) => step !== 'trying', most: mostEnded },
    view,
  })
  const all = () => rentals.all().flatMap(rental => rental.tries.map(one => ({ ...one, rental })))
  const find = (mark: string) => all().find(one => one.mark === mark)
  function get(mark: string): Tried {
    const tried = find(mark)
    if (!tried) throw new BerthError(missing)
    return tried
  }
  return {
    ...rentals,
    tries: {
      all,
      find,
      get,
      intend: (mark, change) => rentals.intend(get(mark).rental.id, rental => withTry(rental, mark, change)),
      async update(mark, change) {
        const id = find(mark)?.rental.id
        if (id !== undefined) await rentals.update(id, rental => withTry(rental, mark, change))
      },
    },
  }
}

/** Ids of the instances in the account's last answer. */
export function knownInstances({ account, store }: AccountContext): number[] {
  return Object.keys(store.get().accounts[account]?.instances ?? {}).map(Number)
}
