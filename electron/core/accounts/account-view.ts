import { describedCapabilities } from '#contract/account/capabilities.ts'
import type { AccountView } from '#contract/state.ts'
import type { StoredAccount } from './stored-accounts.ts'

/** An account in State before its first poll. `now`: epoch milliseconds; `rate`: of the account's time. */
export function accountView(
  { id, name, baseUrl, userId }: StoredAccount,
  now: number,
  rate = 1,
): AccountView {
  return {
    id,
    name,
    baseUrl,
    demo: id === 'demo',
    connection: { status: 'connecting' },
    clock: { serverAt: now, localAt: now, rate },
    capabilities: describedCapabilities,
    spendPerHour: 0,
    instances: {},
    rentals: {},
    limits: {},
    failedMachines: {},
    recoveries: {},
    priceIncreases: {},
    notes: {},
    watches: {},
    tunnels: {},
    ways: {},
    gpuMemory: {},
    watchdogs: {},
    runs: {},
    undoable: {},
    transfers: {},
    fileTransfers: {},
    userId,
  }
}
