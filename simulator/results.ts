import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A text that anyone with its address can fetch. */
interface Result {
  text: string
  /** How many requests miss it before it is there. */
  misses: number
  asked: number
}

/**
 * Serves logs under another origin than the service's: to anyone with the address, but not to requests with a key. It
 * listens from the first result on.
 */
export class Results {
  readonly #results = new Map<string, Result>()
  #server: Promise<Server> | null = null

  /** Makes a text fetchable under `path`; gives its address. At first it is 403, then 404, `misses` times in all. */
  async publish(path: string, text: string, misses: number): Promise<string> {
    this.#server ??= this.#listen()
    const { port } = (await this.#server).address() as AddressInfo
    this.#results.set(path, { text, misses, asked: 0 })
    return `http://127.0.0.1:${port}${path}`
  }

  /** Stops listening. */
  async close(): Promise<void> {
    const server = await this.#server
    if (!server) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }

  async #listen(): Promise<Server> {
    const server = createServer((request, response) => {
      const { status, text } = this.#answer(request.url ?? '', request.headers.authorization)
      response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return server
  }

  #answer(path: string, authorization: string | undefined): { status: number; text: string } {
    if (authorization !== undefined) return { status: 400, text: 'Only one auth mechanism is allowed' }
    const result = this.#results.get(path)
    if (!result) return { status: 404, text: 'NoSuchKey' }
    result.asked += 1
    if (result.asked > result.misses) return { status: 200, text: result.text }
    return result.asked === 1 ? { status: 403, text: 'AccessDenied' } : { status: 404, text: 'NoSuchKey' }
  }
}
