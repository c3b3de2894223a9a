import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { cookiesForServer } from './entry.ts'

/** How a web server inside an instance is asked. */
export interface WebServer {
  tls: boolean
  /**
   * The `Host` that it accepts, as a browser on the instance would send it. Undefined: the browser's own, for a server
   * that writes its address into its pages.
   */
  host: string | undefined
}

/** The two sides of a web tunnel: where the browser sees the page, and where the server does. */
export interface Sides {
  /** The page's origin for the browser: `http://i7-….localhost:20123`. */
  near: string
  server: WebServer
  /** The server's port inside the instance. */
  port: number
  /** How names of cookies begin that scripts cannot read, where the near host has more than this page. */
  cookiePrefix?: string | undefined
}

/** Headers that are not passed on: hop-by-hop ones, and those that Berth sets itself. */
const ownOfRequest =
  /^(host|connection|keep-alive|proxy-connection|expect|forwarded|x-forwarded-.*|x-real-ip)$/
/** Those of the server's own connection too: another port that it has, or TLS for all to come. */
const ownOfResponse =
  /^(connection|keep-alive|proxy-connection|transfer-encoding|alt-svc|strict-transport-security)$/

/**
 * A browser's headers for the server inside the instance, as alternating names and values. All that tell where the page
 * is (`Host`, `Origin`, `Referer`, `X-Forwarded-*`) tell the same, since servers compare each with each: mostly the
 * server's own address, since many accept requests to one of loopback only.
 */
export function requestHeaders({ method, rawHeaders, headers }: IncomingMessage, sides: Sides): string[] {
  const { near, server, cookiePrefix } = sides
  const { host, port } = new URL(near)
  const far = server.host === undefined ? undefined : `${server.tls ? 'https' : 'http'}://${server.host}`
  // A page that was opened from Berth's is nobody else's doing: nobody else knows its address.
  const opened =
    method === 'GET' && headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  const rewritten = pairs(rawHeaders).flatMap(([name, value]) => {
    const lower = name.toLowerCase()
    if (ownOfRequest.test(lower)) return []
    if (lower === 'cookie' && cookiePrefix !== undefined) {
      const cookies = cookiesForServer(value, cookiePrefix)
      return cookies === '' ? [] : [name, cookies]
    }
    if (lower === 'sec-fetch-site' && opened) return [name, 'none']
    return [name, far === undefined ? value : moved(value, url => url.origin === near, far)]
  })
  const forwarded = ['X-Forwarded-Host', host, 'X-Forwarded-Port', port, 'X-Forwarded-Proto', 'http']
  return [
    'Host',
    server.host ?? host,
    ...rewritten,
    ...(server.host === undefined ? forwarded : []),
    ...(headers.upgrade === undefined ? [] : ['Connection', 'Upgrade']),
  ]
}

/**
 * The server's headers for the browser: its own addresses lead to the tunnel, in whichever header they are, and
 * cookies stay at the tunnel's exact host name.
 */
export function responseHeaders(rawHeaders: readonly string[], sides: Sides): string[] {
  const { near, cookiePrefix } = sides
  const move = (address: string) => moved(address, url => isOwn(url, sides), near)
  return pairs(rawHeaders).flatMap(([name, value]) => {
    const lower = name.toLowerCase()
    if (ownOfResponse.test(lower)) return []
    switch (lower) {
      case 'set-cookie':
        return cookiesForBrowser(value, cookiePrefix).flatMap(cookie => [name, cookie])
      case 'clear-site-data':
        // At a host that all tunnels share, it would clear the other tunnels’ data.
        return cookiePrefix === undefined ? [name, value] : []
      case 'refresh':
        return [name, value.replace(/^([\s\d.]+[;,]\s*(?:url\s*=\s*)?["']?)([^"']+)/i, withAddress(move))]
      case 'link':
        return [name, value.replace(/(<)([^>]*)/g, withAddress(move))]
      case 'content-security-policy':
      case 'content-security-policy-report-only':
        return [name, policy(value, sides)]
      default:
        return [name, move(value)]
    }
  })
}

const withAddress = (move: (address: string) => string) => (_: string, before: string, address: string) =>
  before + move(address)

/** Moves an absolute address to another origin, if it is one of those; any other text is left as it is. */
function moved(text: string, isOne: (url: URL) => boolean, to: string): string {
  if (!/^\s*(?:https?:|wss?:|[\\/]{2})/i.test(text)) return text
  const url = URL.parse(text, to)
  if (!url || !isOne(url)) return text
  const { protocol, host } = new URL(to)
  const scheme = url.protocol.startsWith('ws') ? protocol.replace('http', 'ws') : protocol
  // An origin alone has no path.
  const path = /[\\/?#]/.test(text.replace(/^\s*(\w+:)?[\\/]*/, '')) ? url.pathname : ''
  return `${scheme}//${host}${path}${url.search}${url.hash}`
}

/** Whether an address is the server's own. */
function isOwn(url: URL, { near, server, port }: Sides): boolean {
  if (url.host === new URL(near).host || url.host === server.host) return true
  const usual = /^(https|wss):$/.test(url.protocol) ? 443 : 80
  return Number(url.port || usual) === port && isOwnHost(url.hostname)
}

/**
 * Whether a server means itself by a host name: loopback, all addresses, or a name without a dot, which is its machine's
 * and leads nowhere else. `hostname` as `URL` has it.
 */
export function isOwnHost(hostname: string): boolean {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  switch (isIP(bare)) {
    case 4:
      return bare.startsWith('127.') || bare === '0.0.0.0'
    case 6:
      return ['::', '::1', '::ffff:0:0'].includes(bare) || bare.startsWith('::ffff:7f')
    default:
      return /^[^.]+$/.test(bare) || bare.endsWith('.localhost')
  }
}

/** A policy whose own addresses are the tunnel's, without the wish for TLS, which a tunnel has on its far side alone. */
function policy(text: string, sides: Sides): string {
  const { near } = sides
  return text
    .split(';')
    .filter(directive => !/^\s*(upgrade-insecure-requests|block-all-mixed-content)\s*$/i.test(directive))
    .map(directive =>
      directive.replace(/(?<=\s)(\w+:\/\/)?([\w.-]+|\[[\da-f:.]+\]):\d+(?=[/\s]|$)/gi, (source, scheme) => {
        const url = URL.parse(scheme === undefined ? `http://${source}` : source)
        if (!url || !isOwn(url, sides)) return source
        const { host } = new URL(near)
        return scheme === undefined ? host : `${url.protocol.startsWith('ws') ? 'ws' : 'http'}://${host}`
      }),
    )
    .join(';')
}

/** The effect of a server's cookie in the browser. */
function cookiesForBrowser(cookie: string, prefix: string | undefined): string[] {
  const [pair = '', ...attributes] = cookie.split(';')
  const own = [pair, ...attributes.filter(one => nameOf(one) !== 'domain')].join(';')
  if (prefix === undefined) return [own]
  if (attributes.some(one => nameOf(one) === 'httponly')) return [prefix + own]
  // Servers remove a cookie without saying again that scripts cannot read it.
  return [own, `${prefix}${own}; Max-Age=0`]
}

/** The name of a cookie's attribute. Browsers ignore spaces on both sides of it. */
function nameOf(attribute: string): string | undefined {
  return attribute.split('=', 1)[0]?.trim().toLowerCase()
}

function pairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : []))
}
