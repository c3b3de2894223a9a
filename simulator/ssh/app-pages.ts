import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Machine } from './machine.ts'

/** The cookie that the login gives, without the token itself. */
const cookie = 'portal=in'

/**
 * Pages in place of the programs that an image's `PORTAL_CONFIG` names, by their ports: the program at its inner port,
 * and the login of published images in front of it at the outer one. They listen on no port.
 */
export function appPages({ environment }: Pick<Machine, 'environment'>): Map<number, Server> {
  const token = environment['OPEN_BUTTON_TOKEN'] ?? ''
  const pages = new Map<number, Server>()
  for (const entry of (environment['PORTAL_CONFIG'] ?? '').split('|')) {
    const [, outer = '', inner = '', , name = ''] = entry.split(':')
    if (name === '') continue
    const page = createServer((_request, response) => send(response, 200, name))
    // Another entry for the same port is one more way to what is there.
    if (!pages.has(Number(inner))) pages.set(Number(inner), page)
    if (outer === inner) continue
    pages.set(
      Number(outer),
      createServer((request, response) => answer(request, response, { name, token })),
    )
  }
  return pages
}

function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { name, token }: { name: string; token: string },
): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  const basic = Buffer.from(`vastai:${token}`).toString('base64')
  const { authorization, cookie: cookies = '' } = request.headers
  if (token !== '' && searchParams.get('token') === token) {
    response.setHeader('set-cookie', `${cookie}; Path=/; HttpOnly`)
    response.writeHead(302, { location: pathname }).end()
  } else if (
    [`Basic ${basic}`, `Bearer ${token}`].includes(authorization ?? '') ||
    cookies.includes(cookie)
  ) {
    send(response, 200, name)
  } else {
    response.setHeader('www-authenticate', 'Basic realm="restricted"')
    send(response, 401, 'Unauthorized')
  }
}

function send(response: ServerResponse, status: number, title: string): void {
  const text = title.replace(/[&<>"]/g, character => `&#${character.charCodeAt(0)};`)
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
  response.end(`<!doctype html><html lang="en"><title>${text}</title><h1>${text}</h1></html>\n`)
}
