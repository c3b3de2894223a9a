import type { AccountId } from '../../../contract/ids.ts'
import type { InstanceView, SshAddress } from '../../../contract/instance/instance.ts'
import type { State } from '../../../contract/state.ts'
import { sameAddress } from '../../../ssh/connection/addresses.ts'

/** An instance that the SSH config tells of, with the address at which it is reached best. */
export interface Listed {
  account: AccountId
  instance: number
  label?: string
  address: SshAddress
}

/**
 * The instances of all accounts that can be addressed, by account and number. `reached` is the address at which
 * Berth last got in: it is taken while the service still tells of it, else the direct one, else the proxy's.
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
  if (!ssh || ssh.problem) return undefined
  const { direct, proxy } = ssh
  const guess = jupyter && proxy && { host: proxy.host, port: proxy.port + 1 }
  const told = [direct, proxy, guess || undefined].filter(address => address !== undefined)
  return told.find(address => reached && sameAddress(address, reached)) ?? direct ?? proxy
}
