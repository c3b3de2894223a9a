import { once } from 'node:events'
import { createServer } from 'node:http'
import { listen } from '#test/loopback.ts'

/** A proxy to a service whose instances are reached over SSH somewhere else. */
export interface Detour {
  baseUrl: string
  /**
   * Empties the next `lists` lists of instances, and hides each single instance until the list after them; with
   * `listOnly` a single instance is still found.
   */
  hide(lists: number, listOnly?: boolean): void
  close(): Promise<void>
}

/** Proxies a service; each instance's SSH gets the port `port`, and the host that `host` returns, if any. */
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
    // If the service breaks off, so does this.
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
  const own = await listen(server)
  return {
    baseUrl: `http://127.0.0.1:${own}`,
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
