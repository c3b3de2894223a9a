import type { HttpBindings } from '@hono/node-server'

/**
 * A request to the service. `status` is 0 without an answer (yet); `at` in epoch seconds; `fault` is the applied
 * fault's kind.
 */
export interface LoggedRequest {
  method: string
  path: string
  status: number
  at: number
  fault: string | null
}

/** How many requests are remembered; the oldest go first. */
const MOST_LOGGED = 100_000

/** The requests to /api/ so far. */
export class RequestLog {
  #requests: LoggedRequest[] = []

  add(method: string, path: string, at: number): LoggedRequest {
    const request: LoggedRequest = { method, path, status: 0, at, fault: null }
    this.#requests.push(request)
    if (this.#requests.length > MOST_LOGGED * 1.1) this.#requests = this.#requests.slice(-MOST_LOGGED)
    return request
  }

  /** Oldest first. */
  list(): LoggedRequest[] {
    return this.#requests.map(request => ({ ...request }))
  }
}

/** The context of a request: Node's request and response, to break connections, and its entry in the log. */
export interface Bindings {
  Bindings: HttpBindings
  Variables: { logged: LoggedRequest }
}
