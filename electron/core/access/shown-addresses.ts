import type { AccountId } from '#contract/ids.ts'
import { isDeepEqual } from '#core/state/same.ts'
import type { Store } from '#core/state/store.ts'
import { addressText, type Candidate } from '#ssh/connection/addresses.ts'

/** Keeps the address of each connected instance in State, and whether it is the direct one. */
export function showWays(
  store: Store,
): (account: AccountId, instance: number, way: Candidate | undefined) => void {
  return (account, instance, way) => {
    const shown = way && { direct: way.way === 'direct', address: addressText(way.address) }
    if (isDeepEqual(store.get().accounts[account]?.ways[instance], shown)) return
    store.change(draft => {
      const target = draft.accounts[account]
      if (!target) return
      if (shown) target.ways[instance] = shown
      else delete target.ways[instance]
    })
  }
}
