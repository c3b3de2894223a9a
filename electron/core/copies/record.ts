import * as v from 'valibot'
import { isOver, TransferFields, type TransferView } from '#shared/account/transfer.ts'
import type { AccountContext } from '../account-context.ts'
import { type Collection, openCollection } from '../storage/collection.ts'

/** A transfer as stored, with the fields to follow it. It contains no secrets. */
export const Transfer = v.object({
  ...TransferFields.entries,
  /** A key was requested under the transfer's name; whether it exists is unknown until `key` is set. */
  keyAsked: v.optional(v.boolean()),
  /** When the status line last reported on it, epoch seconds. */
  reportedAt: v.optional(v.number()),
  /** The user removed it from the list; it is kept until its key is deleted. */
  dismissed: v.optional(v.boolean()),
})
export type Transfer = v.InferOutput<typeof Transfer>

/** The instances whose status lines may report on it. */
export function instancesOf({ from, to }: Pick<Transfer, 'from' | 'to'>): number[] {
  return [...new Set([to.instance, from.instance].filter(id => id !== undefined))]
}

/** The transfers of one account, as stored and as shown in State. */
export interface StoredTransfers extends Collection<Transfer, string> {
  /** Records an event, unless Berth is ending: then the next start finds out. */
  note(id: string, change: Partial<Transfer>): Promise<void>
}

/** The number of ended transfers that are stored. */
const mostOver = 50

export async function openStoredTransfers(context: AccountContext): Promise<StoredTransfers> {
  const transfers = await openCollection(context, {
    name: 'transfers',
    schema: Transfer,
    // Its key is still deleted.
    rescue: { keep: transfer => transfer },
    key: ({ id }) => id,
    missing: { code: 'no_such_transfer', message: 'That transfer is no longer on the list.' },
    // A transfer whose key still exists stays.
    prune: { isOver: transfer => isOver(transfer) && transfer.key?.state !== 'in-use', most: mostOver },
    view: all => ({ transfers: transferViews(all) }),
  })
  return {
    ...transfers,
    async note(id, change) {
      if (!context.quitting.aborted) await transfers.update(id, change)
    },
  }
}

/** The transfers shown on the page. */
function transferViews(transfers: readonly Transfer[]): Record<string, TransferView> {
  return Object.fromEntries(
    transfers
      .filter(({ dismissed }) => !dismissed)
      .map(({ keyAsked: _, reportedAt: __, dismissed: ___, ...view }) => [view.id, view]),
  )
}
