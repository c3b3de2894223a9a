import { isOver } from '../../contract/account/transfer.ts'
import type { AccountContext } from '../account-context.ts'
import { type Collection, openCollection } from '../storage/collection.ts'
import { Transfer } from './model.ts'
import { transferViews } from './view.ts'

/** The transfers of one account, as they are remembered and as State shows them. */
export interface StoredTransfers extends Collection<Transfer, string> {
  /** Writes down what has happened. Once Berth ends that is not done any more: the next start finds out. */
  note(id: string, change: Partial<Transfer>): Promise<void>
}

/** Transfers remembered after their end. */
const mostOver = 50

export async function openStoredTransfers(context: AccountContext): Promise<StoredTransfers> {
  const transfers = await openCollection(context, {
    name: 'transfers',
    schema: Transfer,
    key: ({ id }) => id,
    missing: { code: 'no_such_transfer', message: 'That transfer is no longer on the list.' },
    // One whose key is still there stays.
    prune: { isOver: transfer => isOver(transfer) && transfer.key?.state !== 'in-use', most: mostOver },
    view: all => ({ transfers: transferViews(all) }),
  })
  return {
    ...transfers,
    async note(id, change) {
      if (!context.ending.aborted) await transfers.update(id, change)
    },
  }
}
