import * as v from 'valibot'
import type { AccountId } from '../../../contract/ids.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Files } from '../../../ports/files.ts'
import type { Activity } from '../../app/activity.ts'
import { same } from '../../state/same.ts'
import type { Store } from '../../state/store.ts'
import { openDocument } from '../../storage/json-file.ts'
import { Transfer } from './transfer.ts'
import { transferName } from './transfer-name.ts'
import { createTransfers, type Transfers, type TransfersContext } from './transfers.ts'

interface Surroundings extends Pick<TransfersContext, 'client' | 'ending' | 'now' | 'newId' | 'poll'> {
  account: AccountId
  store: Store
  activity: Activity
  files: Files
  clock: Clock
  onBroken: (setAside: string) => void
}

export interface KeptTransfers extends Transfers {
  /** Puts them into State. */
  show(): void
  /** Writes what waits to be written. */
  flush(): Promise<void>
}

/** The transfers of one account, in its folder on disk and in State. */
export async function openTransfers(context: Surroundings): Promise<KeptTransfers> {
  const { account, store, activity, files, clock, onBroken } = context
  const document = await openDocument({
    files,
    clock,
    name: `accounts/${account}/transfers.json`,
    schema: v.array(Transfer),
    empty: [],
    onBroken,
  })

  const transfers = createTransfers({
    ...context,
    document,
    changed: show,
    tell: (kind, text, transfer, detail) =>
      activity.add({
        account,
        kind,
        text: `${text}: ${transferName(transfer)}`,
        ...(detail ? { detail } : {}),
      }),
  })

  function show(): void {
    const view = transfers.view()
    if (context.ending.aborted || same(store.get().accounts[account]?.transfers, view)) return
    store.change(draft => {
      const target = draft.accounts[account]
      if (target) target.transfers = view
    })
  }

  return { ...transfers, show, flush: document.flush }
}
