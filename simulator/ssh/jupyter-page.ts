import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Connection } from 'ssh2'
import type { Machine } from './machine.ts'

/** Jupyter's port inside an instance. */
export const jupyterPort = 8080
const loopback = new Set(['127.0.0.1', 'localhost', '::1'])
const pages = new Set(['/', '/lab', '/tree', '/notebooks'])

/** A page in place of an instance's Jupyter. It listens on no port: forwarded channels are handed to it. */
export function jupyterPage(machine: Machine): Server {
  const page = createServer((request, response) => answer(machine, request, response))
  page.on('clientError', (_error, socket) =>
    socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n'),
  )
  return page
}

/** Forwards a connection's channels to the pages inside, and refuses every other address. */
export function forwardToPages(connection: Connection, pages: ReadonlyMap<number, Server>): void {
  connection.on('tcpip', (accept, reject, { destIP, destPort }) => {
    const page = pages.get(destPort)
    if (!page || !loopback.has(destIP)) {
      reject()
      return
    }
    const channel = accept()
    channel.on('error', () => undefined)
    page.emit('connection', channel)
  })
}

function answer(machine: Machine, request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    send(response, 405, 'text/plain', 'This page can only be read.\n')
    return
  }
  const address = URL.parse(request.url ?? '/', 'http://localhost')
  const path = address?.pathname.replace(/(?<=[^/])\/+$/, '')
  if (address === null || path === undefined) {
    send(response, 400, 'text/plain', 'Bad address.\n')
  } else if (path === '/api') {
    send(response, 200, 'application/json', JSON.stringify({ version: '2.14.2' }))
  } else if (!mayEnter(machine, address, request)) {
    send(response, 403, 'text/html', html('Jupyter', 'Forbidden', 'Open this page with its token.'))
  } else if (path === '/api/status') {
    const status = { connections: 0, kernels: 0, started: startOf(machine) }
    send(response, 200, 'application/json', JSON.stringify(status))
  } else if (pages.has(path)) {
    response.setHeader('set-cookie', `${cookieOf(machine)}; Path=/; HttpOnly; SameSite=Strict`)
    const what = `${machine.gpu.count} × ${machine.gpu.name}. A real instance shows its notebooks here.`
    send(response, 200, 'text/html', html(`Jupyter ${machine.hostname}`, machine.hostname, what))
  } else {
    send(response, 404, 'text/html', html('Jupyter', 'Not found', 'There is no such page.'))
  }
}

/** Accepts the token in the address or in the header, or the cookie of the first page. */
function mayEnter({ jupyterToken, ...machine }: Machine, address: URL, request: IncomingMessage): boolean {
  if (jupyterToken === '') return false
  const header = /^(?:token|bearer) +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const cookies = request.headers.cookie?.split(/; */) ?? []
  return (
    address.searchParams.get('token') === jupyterToken ||
    header === jupyterToken ||
    cookies.includes(cookieOf({ ...machine, jupyterToken }))
  )
}

/** A hash, not the token itself, with a name per instance: tunnels to several may share a host name. */
function cookieOf({ instanceId, jupyterToken }: Machine): string {
  return `jupyter-${instanceId}=${createHash('sha256').update(`${instanceId} ${jupyterToken}`).digest('hex')}`
}

function startOf({ instanceId }: Machine): string {
  return new Date(1_700_000_000_000 + instanceId * 1000).toISOString()
}

function send(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    'content-type': `${type}; charset=utf-8`,
    'content-length': Buffer.byteLength(body),
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'",
    'cache-control': 'no-store',
  })
  response.end(response.req.method === 'HEAD' ? undefined : body)
}

function html(title: string, heading: string, text: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escaped(title)}</title>
<style>body { font: 15px system-ui, sans-serif; margin: 4rem auto; max-width: 40rem } h1 { font-weight: 500 }</style>
</head>
<body><p>Jupyter</p><h1>${escaped(heading)}</h1><p>${escaped(text)}</p></body>
</html>
`
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)
}
