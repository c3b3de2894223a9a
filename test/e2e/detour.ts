import { once } from 'node:events'
import { createServer } from 'node:http'

/** An address of its own at which a service answers as it does, but its instances are entered elsewhere. */
export interface Detour {
  baseUrl: string
  /**
   * The next so many lists of instances are empty, and each instance is gone by itself until the list after them; with
   * `listOnly` it answers by itself.
   */
  hide(lists: number, listOnly?: boolean): void
  close(): Promise<void>
}

/**
 * Stands before a service and says of each instance that its SSH answers at `port` of this machine, or of the host
 * that `host` gives.
 */
export async function startDetour(
  baseUrl: string,
  port: number,
  host: () => string | undefined = () => undefined,
): Promise<Detour> {
  let hiding = 0
  let hides = false
  let listOnly = false
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const { host: _its, connection: _own, ...headers } = request.headers
    const method = request.method ?? 'GET'
    const answer = await fetch(`${baseUrl}${request.url}`, {
      method,
      headers: headers as Record<string, string>,
      ...(method === 'GET' ? {} : { body: Buffer.concat(pieces) }),
    }).catch(() => undefined)
    // A service that breaks off does so here, too.
    if (!answer) return void response.destroy()
    const elsewhere = JSON.stringify(host())
    const asksForList = method === 'GET' && /v0\/instances\/(\?|$)/.test(request.url ?? '')
    const asksForOne = method === 'GET' && /v0\/instances\/\d+\/$/.test(request.url ?? '')
    if (asksForList) hides = hiding > 0
    if (asksForList && hides) hiding -= 1
    const hidden = asksForList ? '{"instances":[]}' : '{"instances":null}'
    const text = (hides && (asksForList || (asksForOne && !listOnly)) ? hidden : await answer.text())
      .replaceAll(/("(?:ssh_host|public_ipaddr)":)("[^"]*"|null)/g, (_, name, it) => name + (elsewhere ?? it))
      .replaceAll(/"ssh_port":\d+/g, `"ssh_port":${port}`)
      .replaceAll(/("22\/tcp":\[\{[^\]]*"HostPort":)"\d+"/g, `$1"${port}"`)
    const date = answer.headers.get('date')
    response.writeHead(answer.status, { 'content-type': 'application/json', ...(date ? { date } : {}) })
    response.end(text)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return {
    baseUrl: `http://127.0.0.1:${address.port}`,
    hide(lists, only = false) {
      hiding = lists
      listOnly = only
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
