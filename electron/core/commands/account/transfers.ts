import type { Handlers } from '../../page/dispatcher.ts'
import type { Parts } from '../parts.ts'

type TransferCommands = Pick<Handlers, 'startCopy' | 'startSync' | 'cancelTransfer' | 'dismissTransfer'>

/** Moving data (section 4.3). */
export function transferCommands({ accounts }: Parts): TransferCommands {
  return {
    startCopy: ({ account, request }) => accounts.session(account).transfers.copy(request),
    startSync: ({ account, request }) => accounts.session(account).transfers.sync(request),
    cancelTransfer: ({ account, transfer }) => accounts.session(account).transfers.cancel(transfer),
    dismissTransfer: ({ account, transfer }) => accounts.session(account).transfers.dismiss(transfer),
  }
}
