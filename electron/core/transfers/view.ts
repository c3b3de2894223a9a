import type { TransferView } from '../../contract/account/transfer.ts'
import type { Transfer } from './model.ts'

/** The transfers shown on the page. */
export function transferViews(transfers: readonly Transfer[]): Record<string, TransferView> {
  return Object.fromEntries(
    transfers
      .filter(({ dismissed }) => !dismissed)
      .map(({ keyAsked: _, reportedAt: __, dismissed: ___, ...view }) => [view.id, view]),
  )
}
