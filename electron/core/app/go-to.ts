import type { AccountId } from '#contract/ids.ts'
import type { Place } from '#contract/state.ts'
import type { Store } from '../state/store.ts'

/** Sends the page to a place and shows its account; without one, the shown account stays. */
export function goTo(store: Store, account: AccountId | undefined, place: Place): void {
  const { accounts, goTo: last } = store.get()
  store.change(draft => {
    if (account !== undefined && account in accounts) draft.shown = account
    draft.goTo = { sequence: (last?.sequence ?? 0) + 1, place }
  })
}
