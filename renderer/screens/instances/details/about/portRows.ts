import type { TunnelView } from '#contract/instance/tunnel.ts'
import type { AccountView } from '#contract/state.ts'

/** The tunnels to an instance, sorted by their port in it. */
export function tunnelsOf({ tunnels }: AccountView, instance: number): TunnelView[] {
  return Object.values(tunnels)
    .filter(tunnel => tunnel.instance === instance)
    .sort((a, b) => a.port - b.port)
}
