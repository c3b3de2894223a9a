import type { HttpBindings } from '@hono/node-server'
import type { LoggedRequest } from './request-log.ts'

/** What every request brings with it: Node's own request and response, for faults that break connections; its line in the log. */
export interface Bindings {
  Bindings: HttpBindings
  Variables: { logged: LoggedRequest }
}
