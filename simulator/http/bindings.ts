import type { HttpBindings } from '@hono/node-server'

/** What every request brings with it: Node's own request and response, for faults that break connections. */
export interface Bindings {
  Bindings: HttpBindings
}
