import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'

const channel = 'http.server.request.start'

/** Counts the requests that the servers of this process have received and not finished. */
export class OpenRequests {
  #count = 0
  readonly #started = (message: unknown) => {
    const { response } = message as { response: ServerResponse }
    this.#count += 1
    response.once('close', () => {
      this.#count -= 1
    })
  }

  constructor() {
    subscribe(channel, this.#started)
  }

  get count(): number {
    return this.#count
  }

  close(): void {
    unsubscribe(channel, this.#started)
  }
}
