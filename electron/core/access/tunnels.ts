import type { AccountId } from '#contract/ids.ts'
import type { InstanceTarget } from './enter.ts'
import { InstanceTunnel, keyOf, type Purpose, type TunnelsNeeds } from './instance-tunnel.ts'

/** The tunnels of all accounts. Their progress is in State. */
export interface Tunnels {
  /**
   * The address of a tunnel, opened if there is none; while it is being opened, callers await the same one. Throws the
   * errors of connecting and of its purpose, `no_free_port`, and `tunnel_closed` when it is closed meanwhile.
   */
  open(target: () => InstanceTarget, purpose: Purpose): Promise<string | undefined>
  closeOne(account: AccountId, instance: number, port: number): Promise<void>
  /** The instance is gone. */
  drop(account: AccountId, instance: number): Promise<void>
  close(): Promise<void>
}

export function createTunnels(needs: TunnelsNeeds): Tunnels {
  const all = new Map<string, InstanceTunnel>()
  const context = { ...needs, all, lastPorts: new Map<string, number>() }

  function find(account: AccountId, instance: number, { kind, port }: Purpose): InstanceTunnel | undefined {
    return [...all.values()].find(
      ({ account: of, view }) =>
        of === account &&
        view.instance === instance &&
        (view.port === port || (kind === 'jupyter' && view.kind === kind)),
    )
  }

  return {
    async open(target, purpose) {
      const { account, instance } = target()
      const before = find(account, instance.id, purpose)
      if (before && before.view.step !== 'failed') return before.address(purpose)
      if (before) await before.end()
      return new InstanceTunnel(context, target, purpose).address(purpose)
    },
    async closeOne(account, instance, port) {
      await all.get(keyOf(account, instance, port))?.end()
    },
    async drop(account, instance) {
      const gone = [...all.values()].filter(
        ({ account: of, view }) => of === account && view.instance === instance,
      )
      await Promise.all(gone.map(tunnel => tunnel.end()))
    },
    async close() {
      await Promise.all([...all.values()].map(tunnel => tunnel.end()))
    },
  }
}
