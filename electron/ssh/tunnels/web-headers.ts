import type { IncomingMessage } from 'node:http'
import { cookiesForServer } from './entry.ts'

/** The origins of the same page, for the browser and inside the instance: `http://i7-….localhost:20123`. */
export interface Origins {
  near: string
  far: string
  /** How names of cookies begin that scripts cannot read, where the near host has more than this page. */
  cookiePrefix?: string | undefined
}

/** Headers that are not passed on: hop-by-hop ones, and those that Berth sets itself. */
const ownOfRequest = new Set([
  'host',
  'connection',
  'keep-alive',
  'proxy-connection',
  'expect',
  'x-forwarded-host',
  'x-forwarded-proto',
])
const ownOfResponse = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding'])

/**
 * A browser's headers for the server inside the instance, as alternating names and values: many servers accept requests
 * to a loopback address only, or compare `Origin` with `Host`.
 */
export function requestHeaders(
  { rawHeaders, headers }: IncomingMessage,
  { near, far, cookiePrefix }: Origins,
): string[] {
  const { host } = new URL(far)
  const rewritten = pairs(rawHeaders).flatMap(([name, value]) => {
    const lower = name.toLowerCase()
    if (ownOfRequest.has(lower)) return []
    if (lower === 'cookie' && cookiePrefix !== undefined) {
      const cookies = cookiesForServer(value, cookiePrefix)
      return cookies === '' ? [] : [name, cookies]
    }
    const led = lower === 'origin' || lower === 'referer' ? moved(value, [near], far) : value
    return [name, led]
  })
  // Gradio and others write absolute addresses into their pages, with the host from this header.
  // For web sockets, others compare it with `Origin`, which is the one inside the instance.
  const forMore =
    headers.upgrade === undefined
      ? ['X-Forwarded-Host', new URL(near).host, 'X-Forwarded-Proto', 'http']
      : ['Connection', 'Upgrade']
  return ['Host', host, ...rewritten, ...forMore]
}

/** The server's headers for the browser: redirects stay within the tunnel, and cookies at its exact host name. */
export function responseHeaders(
  rawHeaders: readonly string[],
  { near, far, cookiePrefix }: Origins,
): string[] {
  const port = new URL(far).port
  const names = ['127.0.0.1', 'localhost', '[::1]'].flatMap(name => [
    `http://${name}:${port}`,
    `https://${name}:${port}`,
  ])
  return pairs(rawHeaders).flatMap(([name, value]) => {
    const lower = name.toLowerCase()
    if (ownOfResponse.has(lower)) return []
    if (lower === 'location') return [name, moved(value, names, near)]
    if (lower === 'set-cookie')
      return cookiesForBrowser(value, cookiePrefix).flatMap(cookie => [name, cookie])
    return [name, value]
  })
}

/** Moves a URL to another origin, if it is at one of the given origins. */
function moved(address: string, from: readonly string[], to: string): string {
  const origin = from.find(one => address === one || address.startsWith(`${one}/`))
  return origin === undefined ? address : to + address.slice(origin.length)
}

/** What a cookie of the server sets in the browser. */
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
