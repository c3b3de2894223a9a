import type { TunnelView } from '../../../contract/instance/tunnel.ts'
import type { Lease } from '../../../ssh/connection/sharing.ts'
import type { LocalAddress, Tunnel } from '../../../ssh/tunnels/tunnel.ts'

/** What is asked of a tunnel, once there is one: to find out what is behind it, and give its address. */
export interface Purpose {
  kind: TunnelView['kind']
  name: string
  /** The port inside the instance, where it is usually. */
  port: number
  /** Finds out where it is in this instance. */
  locate?(lease: Lease, making: Making): Promise<number>
  /** Makes it ready for use. Gives where it listens, and the address for the browser if one can show it. */
  ready(tunnel: Tunnel, making: Making): Promise<Ready>
}

export interface Ready {
  local: LocalAddress
  url?: string
}

/** A tunnel in the making, as its purpose sees it. */
interface Making {
  /** Aborted when it is closed before it is ready. */
  signal: AbortSignal
  step(step: TunnelView['step']): void
}
