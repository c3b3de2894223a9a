import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'

const loopback = '127.0.0.1'
/** How the names of cookies begin that are for one tunnel alone, at an address that all of them share. */
const berths = 'berth-'

/** Distinguishes the user's browser from others who can connect to a web tunnel's port. */
export interface TunnelEntry {
  /** The tunnel's host name, which nobody can guess. */
  name: string
  port: number
  /** Takes the place of the name at 127.0.0.1, for a browser that does not resolve the name. Without slashes. */
  secret: string
}

/**
 * How a request may enter: by the tunnel's name, with the secret in its path, or with the cookie that it got for the
 * secret. Undefined for anybody else, and for pages of another origin, which a browser that has the cookie may show.
 */
export function authMethod(
  { method, url = '', headers }: IncomingMessage,
  entry: TunnelEntry,
): 'name' | 'secret' | 'cookie' | undefined {
  const { name, port, secret } = entry
  const origin = `http://${loopback}:${port}`
  if (headers.host === `${name}:${port}`) return 'name'
  if (headers.host !== `${loopback}:${port}`) return undefined
  if (method === 'GET' && isSame(url.slice(0, pathWith(secret).length), pathWith(secret))) return 'secret'
  // For the browser all ports of 127.0.0.1 are one site, so `SameSite` does not hold off the pages of other tunnels.
  if (headers.origin !== undefined && headers.origin !== origin) return undefined
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return undefined
  return cookiesOf(headers.cookie).some(cookie => isSame(cookie, cookieFor(entry))) ? 'cookie' : undefined
}

/** The address at 127.0.0.1 of a page of the tunnel. It lets in anyone who has it. */
export function addressAtLoopback(url: string, { port, secret }: TunnelEntry): string {
  const { pathname, search } = new URL(url)
  return `http://${loopback}:${port}/${secret}${pathname}${search}`
}

/** Answers a request with the secret: gives the cookie for it, and leads to the page without it. */
export function authorize({ url = '' }: IncomingMessage, response: ServerResponse, entry: TunnelEntry): void {
  response.writeHead(200, {
    'set-cookie': `${cookieFor(entry)}; Path=/; HttpOnly; SameSite=Strict`,
    // No redirection: after one from another site, browsers would withhold the cookie.
    refresh: `0; url=${url.slice(pathWith(entry.secret).length - 1)}`,
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  })
  response.end()
}

/**
 * How the names of a tunnel's cookies begin at 127.0.0.1, where the browser sends the cookies of all tunnels to each, and
 * a page of any can set one for another's port. So it can't be guessed, and only cookies that scripts cannot read are
 * named so: a script must find the others by their own names.
 */
export function cookiePrefix({ port, secret }: TunnelEntry): string {
  return `${berths}${port}-${createHash('sha256').update(secret).digest('hex').slice(0, 32)}-`
}

/**
 * A browser's cookies for the server, by the names that it gave them, without those of other tunnels and Berth's, and
 * without any that another page may have set under the name of one that scripts cannot read.
 */
export function cookiesForServer(header: string, prefix: string): string {
  const cookies = cookiesOf(header)
  const own = cookies.filter(cookie => cookie.startsWith(prefix)).map(cookie => cookie.slice(prefix.length))
  const taken = new Set(own.map(nameOf))
  const others = cookies.filter(cookie => !cookie.startsWith(berths) && !taken.has(nameOf(cookie)))
  return [...own, ...others].join('; ')
}

function nameOf(cookie: string): string {
  return cookie.split('=', 1)[0]?.trim() ?? ''
}

function cookieFor({ port, secret }: TunnelEntry): string {
  return `${berths}${port}=${secret}`
}

function cookiesOf(header = ''): string[] {
  return header.split(';').map(cookie => cookie.trim())
}

function pathWith(secret: string): string {
  return `/${secret}/`
}

/** Compares in a time that does not depend on where the two differ. */
function isSame(given: string, secret: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(secret)]
  return a.length === b.length && timingSafeEqual(a, b)
}
