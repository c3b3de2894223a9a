import type { AccountView } from '#contract/state.ts'
import type { CallOptions } from '#service/http/operation.ts'
import type { Store } from './store.ts'

/** A list whose number of unreadable records the page shows. */
export type ListName = keyof NonNullable<AccountView['unread']>

/**
 * Requests a list and shows how many of its records were unreadable and left out. Of several requests for one list, the
 * largest number counts.
 */
export async function tellingUnread<T>(
  store: Store,
  account: string,
  list: ListName,
  ask: (options: CallOptions) => Promise<T>,
): Promise<T> {
  let most = 0
  const onUnread: CallOptions['onUnread'] = unread => {
    most = Math.max(most, unread.length)
  }
  const answer = await ask({ onUnread })
  if ((store.get().accounts[account]?.unread?.[list] ?? 0) !== most)
    store.change(draft => {
      const target = draft.accounts[account]
      if (target) target.unread = { ...target.unread, [list]: most }
    })
  return answer
}
