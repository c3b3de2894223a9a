import { type Collection, type CollectionContext, openCollection } from '../storage/collection.ts'
import { Guard } from './model.ts'

/** The guards of one account, as stored. */
export interface StoredGuards extends Collection<Guard, string> {
  /** The guard that acted on an instance, also before a restart, which tells that Berth stopped it. */
  actedOn(instance: number): Guard | undefined
}

/** How many ended guards are kept for reading. */
const mostEnded = 50

export async function openStoredGuards(context: CollectionContext): Promise<StoredGuards> {
  const guards = await openCollection(context, {
    name: 'guards',
    schema: Guard,
    key: ({ id }) => id,
    missing: { code: 'no_such_guard', message: 'That limit is no longer there.' },
    prune: { isOver: ({ ended }) => ended !== undefined && ended !== 'off', most: mostEnded },
  })
  return { ...guards, actedOn: instance => guards.all().find(({ targets }) => targets?.includes(instance)) }
}
