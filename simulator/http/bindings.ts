import type { HttpBindings } from '@hono/node-server'
import type { LoggedRequest } from './request-log.ts'

/** The context of a request: Node's request and response, to break connections, and its entry in the log. */
export interface Bindings {
  Bindings: HttpBindings
  Variables: { logged: LoggedRequest }
}
