import type { AccountContext } from '#core/account-context.ts'
import { type Collection, openCollection } from '#core/storage/collection.ts'
import { isUnderWay, Rental } from './model.ts'
import { lastRental, rentalViews } from './view.ts'

/** The rentals of one account, as stored and as shown in State. */
export type StoredRentals = Collection<Rental, string>

/** The number of ended rentals that are stored, for renting again. */
const mostEnded = 200

export function openStoredRentals(context: AccountContext): Promise<StoredRentals> {
  return openCollection(context, {
    name: 'rentals',
    schema: Rental,
    key: ({ id }) => id,
    missing: { code: 'no_such_rental', message: 'That rental is no longer on the list.' },
    prune: { isOver: rental => !isUnderWay(rental), most: mostEnded },
    view(rentals) {
      const last = lastRental(rentals)
      return { rentals: rentalViews(rentals), lastRental: last }
    },
  })
}

/** Ids of the instances in the account's last answer. */
export function knownInstances({ account, store }: AccountContext): number[] {
  return Object.keys(store.get().accounts[account]?.instances ?? {}).map(Number)
}
