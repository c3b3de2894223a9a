import * as v from 'valibot'
import type { Files } from '../../../ports/files.ts'
import type { Activity } from '../../app/activity.ts'
import { same } from '../../state/same.ts'
import type { Store } from '../../state/store.ts'
import { openDocument } from '../../storage/json-file.ts'
import { isUnderWay, Rental } from './rental.ts'
import { createRentals, type Rentals, type RentalsContext } from './rentals.ts'

interface Surroundings
  extends Omit<RentalsContext, 'document' | 'knownInstances' | 'deadline' | 'changed' | 'tell'> {
  store: Store
  activity: Activity
  files: Files
  onBroken: (setAside: string) => void
}

export interface KeptRentals extends Rentals {
  /** The rentals whose secret values are still wanted. */
  secretOwners(): readonly string[]
  /** Puts them into State. */
  show(): void
  /** Writes what waits to be written. */
  flush(): Promise<void>
}

/** The rentals of one account, in its folder on disk and in State. */
export async function openRentals(context: Surroundings): Promise<KeptRentals> {
  const { account, store, activity, files, clock, onBroken } = context
  const document = await openDocument({
    files,
    clock,
    name: `accounts/${account}/rentals.json`,
    schema: v.array(Rental),
    empty: [],
    onBroken,
  })

  const rentals = createRentals({
    ...context,
    document,
    knownInstances: () => Object.keys(store.get().accounts[account]?.instances ?? {}).map(Number),
    deadline: () => store.get().settings.rentalDeadline,
    changed: show,
    tell: (text, { id, instance, offer, request }, more) =>
      activity.add({
        account,
        kind: more?.kind ?? 'berth',
        text: `${text}: ${request.label ?? offer.gpuName ?? 'offer'} (${request.image || request.template?.name})`,
        detail: more?.detail ?? `Rental ${id}, offer ${offer.id}`,
        ...(instance === undefined ? {} : { instance }),
      }),
  })

  function show(): void {
    const view = rentals.view()
    const last = rentals.last()
    const shown = store.get().accounts[account]
    if (context.ending.aborted || (same(shown?.rentals, view) && same(shown?.lastRental, last))) return
    store.change(draft => {
      const target = draft.accounts[account]
      if (!target) return
      if (!same(shown?.rentals, view)) target.rentals = view
      if (last) target.lastRental = last
    })
  }

  return {
    ...rentals,
    secretOwners: () => document.get().flatMap(rental => (isUnderWay(rental) ? rental.id : [])),
    show,
    flush: document.flush,
  }
}
