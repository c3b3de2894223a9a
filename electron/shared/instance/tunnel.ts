import type { Problem } from '../problem.ts'

/**
 * A tunnel from a loopback port of this machine to a port inside an instance, over SSH. It keeps its address while the
 * connection is lost and restored.
 */
export interface TunnelView {
  instance: number
  /** An `app` is a page that the image names. */
  kind: 'jupyter' | 'app' | 'port'
  /** `Jupyter`, `ComfyUI`, `Port 3000`. */
  name: string
  /** The port inside the instance. */
  port: number
  /** Its host on this machine once it is open: a name as `i4711-….localhost` for a web page, else `127.0.0.1`. */
  host?: string
  localPort?: number
  /**
   * `connecting` to the instance, asking it for Jupyter's `token`, `waiting` until something answers there, `open`,
   * `reconnecting` after the connection was lost, or `failed` with its problem.
   */
  step: 'connecting' | 'token' | 'waiting' | 'open' | 'reconnecting' | 'failed'
  /** Whether a web server answers; known once it is open. */
  web?: boolean
  /** A browser has come and was let in to the page. */
  reached?: boolean
  problem?: Problem
}

/** The address of an open tunnel, or of a direct Jupyter. */
export interface OpenedAddress {
  /** May hold Jupyter's token or the tunnel's secret, so it is only for a browser. Absent if no web server answers. */
  url?: string
  /** Whether Berth has opened it in the user's browser; else the caller does. */
  opened: boolean
}

/** A port inside an instance that may have a web interface. */
export interface OfferedPort {
  port: number
  name: string
  /** Whether anything listens there, tried over SSH. */
  answers: boolean
  /** The page that the image names there, to be opened by its name. */
  app?: string
}

/** The login in front of an image's pages. */
export interface AppLogin {
  user: string
  password: string
}

/** The key of a tunnel in `AccountView.tunnels`. */
export function tunnelKey(instance: number, port: number): string {
  return `${instance}:${port}`
}
