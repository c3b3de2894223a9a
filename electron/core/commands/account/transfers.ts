import type { transferCommands as declared } from '../../../contract/commands/account/transfers.ts'
import type { HandlersOf } from '../../app/page/dispatcher.ts'
import { type Parts, targetOf } from '../parts.ts'

type TransferCommands = HandlersOf<typeof declared>

/** Commands that move data (section 4.3). */
export function transferCommands(parts: Parts): TransferCommands {
  const { accounts } = parts
  return {
    async startCopy({ account, request }) {
      for (const instance of [request.from, request.to]) targetOf(parts, { account, instance })
      return accounts.session(account).transfers.copy(request)
    },
    async startSync({ account, request }) {
      // Checked before a key is made for it.
      targetOf(parts, { account, instance: request.instance })
      return accounts.session(account).transfers.sync(request)
    },
    cancelTransfer: ({ account, transfer }) => accounts.session(account).transfers.cancel(transfer),
    dismissTransfer: ({ account, transfer }) => accounts.session(account).transfers.dismiss(transfer),
  }
}
