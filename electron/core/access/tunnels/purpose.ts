import type { TunnelView } from '#contract/instance/tunnel.ts'
import type { LocalAddress, Tunnel } from '#ssh/tunnels/tunnel.ts'

/** What a tunnel is for: finds and prepares the service behind it. */
export interface Purpose {
  kind: TunnelView['kind']
  name: string
  /** The usual port inside the instance. */
  port: number
  /** Finds the service's port in this instance. */
  locate?(making: Making): Promise<number>
  /** Makes the service ready. Returns the local address, and the URL where a browser can show it. */
  ready(tunnel: Tunnel, making: Making): Promise<Ready>
}

export interface Ready {
  local: LocalAddress
  url?: string
}

/** The opening of a tunnel, as its purpose sees it. */
interface Making {
  /** Aborted when the tunnel is closed before it is ready. */
  signal: AbortSignal
  step(step: TunnelView['step']): void
}
