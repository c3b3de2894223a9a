import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'vitest'
import type { Clock } from '#platform/platform.ts'
import { type BaseUrl, parseBaseUrl } from '#service/base-url.ts'
import { type ClientOptions, createClient, type FullClient } from '#service/client.ts'
import type { DialectMemory } from '#service/dialect.ts'
import { ServiceError } from '#service/service-error.ts'

/** A received request. */
export interface Seen {
  method: string
  url: string
  headers: IncomingMessage['headers']
  body: string
}

export type Reply = (request: Seen, response: ServerResponse, raw: IncomingMessage) => void

/** A service on loopback that answers as the test scripts it, and records its requests. */
export class ScriptedService {
  readonly requests: Seen[] = []
  /** Used one by one, then `otherwise`. */
  script: Reply[] = []
  otherwise: Reply = json({})
  readonly #server: Server
  readonly baseUrl: BaseUrl

  private constructor(server: Server) {
    this.#server = server
    this.baseUrl = parseBaseUrl(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    server.on('request', (raw: IncomingMessage, response: ServerResponse) => {
      const parts: Buffer[] = []
      raw.on('data', (part: Buffer) => parts.push(part))
      raw.on('end', () => {
        const { method = '', url = '', headers } = raw
        const seen = { method, url, headers, body: Buffer.concat(parts).toString() }
        this.requests.push(seen)
        const reply = this.script.shift() ?? this.otherwise
        reply(seen, response, raw)
      })
    })
  }

  static async start(): Promise<ScriptedService> {
    const server = createServer()
    await new Promise<void>(ready => server.listen(0, '127.0.0.1', ready))
    return new ScriptedService(server)
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(done => this.#server.close(done))
  }
}

/** Answers with JSON. */
export function json(body: unknown, status = 200, headers: Record<string, string> = {}): Reply {
  return raw(JSON.stringify(body), status, { 'content-type': 'application/json', ...headers })
}

/** Answers with any text. */
export function raw(text: string, status = 200, headers: Record<string, string> = {}): Reply {
  return (_, response) => response.writeHead(status, headers).end(text)
}

/** Resets the connection once the request is complete. */
export const reset: Reply = (_, __, request) => request.socket.resetAndDestroy()

/** Never answers. */
export const hang: Reply = () => {}

/** Sends the head and half a body, and nothing more. */
export const hangInBody: Reply = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.write('{"instances": [')
}

/** Sends the head and half a body, then resets the connection. */
export const resetInBody: Reply = (_, response, request) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
  response.write('{"instances": [', () => request.socket.resetAndDestroy())
}

/** A client of it, by default with the interface's own list, which has no known rate limit. */
export function clientOf(
  { baseUrl }: ScriptedService,
  clock: Clock,
  options: Partial<ClientOptions> = {},
): FullClient {
  const dialect: DialectMemory = { get: () => ({ list: 'v0' }), set: () => undefined }
  return createClient({ ...{ baseUrl, key: 'k-1234567890', clock, random: () => 0.5, dialect }, ...options })
}

/** The error that a call has to end with. */
export async function failure(call: Promise<unknown>): Promise<ServiceError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return error instanceof ServiceError ? error : expect.fail(`no ServiceError but ${String(error)}`)
}
