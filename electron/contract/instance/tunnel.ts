import type { Problem } from '../problem.ts'

/**
 * A way from a loopback port of this machine to a port inside an instance, over its SSH connection. It stays at the
 * same address while the connection is lost and comes back.
 */
export interface TunnelView {
  instance: number
  kind: 'jupyter' | 'port'
  /** `Jupyter`, `ComfyUI`, `Port 3000`. */
  name: string
  /** The port inside the instance. */
  port: number
  /** What it is reached by on this machine, once it is open: `i4711-….localhost` for a web page, else `127.0.0.1`. */
  host?: string
  localPort?: number
  /**
   * `connecting` to the instance, asking it for Jupyter's `token`, `waiting` until something answers there, `open`,
   * `reconnecting` after the connection was lost, or `failed` with its problem.
   */
  step: 'connecting' | 'token' | 'waiting' | 'open' | 'reconnecting' | 'failed'
  /** Whether a browser can show what answers there; known once it is open. */
  web?: boolean
  /**
   * A web page's name did not bring the browser there, so 127.0.0.1 does as well, where pages of instances share cookies:
   * `offered`, then `taken` once the browser came by it.
   */
  fallback?: 'offered' | 'taken'
  problem?: Problem
}

/** What an opened tunnel, or a direct Jupyter, is reached by. */
export interface OpenedAddress {
  /** The address to open; with Jupyter's token, so it goes nowhere but into a browser. Absent where no web page answers. */
  url?: string
  /** Whether the user's browser was given it already; else whoever asked opens it. */
  opened: boolean
}

/** A port inside an instance at which a web interface may answer. */
export interface OfferedPort {
  port: number
  name: string
  /** Whether anything listens there, by a try over SSH. */
  answers: boolean
}

/** The key of a tunnel among its account's. */
export function tunnelKey(instance: number, port: number): string {
  return `${instance}:${port}`
}
