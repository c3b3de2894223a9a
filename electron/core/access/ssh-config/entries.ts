import type { AccountId } from '#contract/ids.ts'
import type { InstanceView, SshAddress } from '#contract/instance/instance.ts'
import type { State } from '#contract/state.ts'
import { sameAddress } from '#ssh/connection/addresses.ts'

/** An instance in the SSH config, with its best address. */
export interface Listed {
  account: AccountId
  instance: number
  label?: string
  address: SshAddress
}

/**
 * All accounts' instances that have an address, by account and id. `reached` is the address at which Berth last
 * connected: it is used while the service still lists it, else the direct one, else the proxy's.
 */
export function listedInstances(
  { accounts }: Pick<State, 'accounts'>,
  reached: (account: AccountId, instance: number) => SshAddress | undefined,
): Listed[] {
  return Object.values(accounts).flatMap(account =>
    Object.values(account.instances).flatMap(instance => {
      const address = addressOf(instance, reached(account.id, instance.id))
      if (!address) return []
      const { id, label } = instance
      return [{ account: account.id, instance: id, label: label || undefined, address }]
    }),
  )
}

function addressOf({ ssh, jupyter }: InstanceView, reached: SshAddress | undefined): SshAddress | undefined {
  if (!ssh) return undefined
  const { direct, proxy } = ssh
  const guess = jupyter && proxy && { host: proxy.host, port: proxy.port + 1 }
  const told = [direct, proxy, guess || undefined].filter(address => address !== undefined)
  return told.find(address => reached && sameAddress(address, reached)) ?? direct ?? proxy
}

/** Whether a change of State may concern the SSH config: most polls only change loads and figures. */
export function changesEntries(after: State, before: State): boolean {
  if (after.settings !== before.settings) return true
  const ids = Object.keys(after.accounts)
  if (ids.length !== Object.keys(before.accounts).length) return true
  return ids.some(id => {
    if (after.accounts[id]?.connection !== before.accounts[id]?.connection) return true
    const now = after.accounts[id]?.instances
    const then = before.accounts[id]?.instances
    if (now === then) return false
    if (!now || !then || Object.keys(now).length !== Object.keys(then).length) return true
    return Object.keys(now).some(key =>
      (['ssh', 'label', 'state'] as const).some(field => now[key]?.[field] !== then[key]?.[field]),
    )
  })
}
