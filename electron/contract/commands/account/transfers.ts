import { CopyRequest, SyncRequest, TransferId } from '#contract/account/transfer.ts'
import { account, command } from '../command.ts'

/** Copies and cloud syncs (section 4.3). Those that Berth started are in State. */
export const transferCommands = {
  startCopy: command({ account, request: CopyRequest }).answers<string>(),
  /** With an API key of its own, which has only the necessary permissions and is deleted afterwards. */
  startSync: command({ account, request: SyncRequest }).answers<string>(),
  /** A cancelled sync cannot be resumed, only started again. */
  cancelTransfer: command({ account, transfer: TransferId }).answers<void>(),
  dismissTransfer: command({ account, transfer: TransferId }).answers<void>(),
}
