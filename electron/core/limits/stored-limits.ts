import { type Collection, type CollectionContext, openCollection } from '../storage/collection.ts'
import { Limit } from './model.ts'

/** The limits of one account, as stored. */
export interface StoredLimits extends Collection<Limit, string> {
  /** The limit that acted on an instance, also before a restart, which tells that Berth stopped it. */
  actedOn(instance: number): Limit | undefined
}

/** How many ended limits are kept for reading. */
const mostEnded = 50

export async function openStoredLimits(context: CollectionContext): Promise<StoredLimits> {
  const limits = await openCollection(context, {
    name: 'limits',
    schema: Limit,
    key: ({ id }) => id,
    missing: { code: 'no_such_limit', message: 'That limit is no longer there.' },
    prune: { isOver: ({ ended }) => ended !== undefined && ended !== 'off', most: mostEnded },
  })
  return { ...limits, actedOn: instance => limits.all().find(({ targets }) => targets?.includes(instance)) }
}
