import { createServer } from 'node:http'
import { listen } from '#test/loopback.ts'

/** A foreign server that answers every request, which a page must never reach. */
export interface ForeignServer {
  url: string
  /** The requests received, as `GET /path`. */
  seen(): string[]
  close(): void
}

export async function listenForeign(): Promise<ForeignServer> {
  const seen: string[] = []
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`)
    response.setHeader('access-control-allow-origin', '*')
    response.end('window.wasRun = true')
  })
  const port = await listen(server)
  return { url: `http://127.0.0.1:${port}/`, seen: () => seen, close: () => server.close() }
}
