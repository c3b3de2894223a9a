import type { IncomingMessage } from 'node:http'

/** By what a browser and the server inside the instance know the same page: `http://i7-….localhost:20123`. */
export interface Origins {
  near: string
  far: string
}

/** What is between two neighbours, or is written anew. */
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
 * A browser's headers as the server inside the instance expects them: many take requests to a loopback address alone,
 * or compare `Origin` with `Host`. Names and values in turn.
 */
export function requestHeaders({ rawHeaders, headers }: IncomingMessage, { near, far }: Origins): string[] {
  const { host } = new URL(far)
  const rewritten = pairs(rawHeaders).flatMap(([name, value]) => {
    const lower = name.toLowerCase()
    if (ownOfRequest.has(lower)) return []
    const led = lower === 'origin' || lower === 'referer' ? moved(value, [near], far) : value
    return [name, led]
  })
  // Gradio and others write whole addresses into what they send, and ask this header for the name.
  // On web sockets others compare it with `Origin`, which is the far one.
  const forMore =
    headers.upgrade === undefined
      ? ['X-Forwarded-Host', new URL(near).host, 'X-Forwarded-Proto', 'http']
      : ['Connection', 'Upgrade']
  return ['Host', host, ...rewritten, ...forMore]
}

/** The server's headers as the browser needs them: redirections stay at the tunnel, and cookies at its very name. */
export function responseHeaders(rawHeaders: readonly string[], { near, far }: Origins): string[] {
  const port = new URL(far).port
  const names = ['127.0.0.1', 'localhost', '[::1]'].flatMap(name => [
    `http://${name}:${port}`,
    `https://${name}:${port}`,
  ])
  return pairs(rawHeaders).flatMap(([name, value]) => {
    const lower = name.toLowerCase()
    if (ownOfResponse.has(lower)) return []
    if (lower === 'location') return [name, moved(value, names, near)]
    if (lower === 'set-cookie') return [name, withoutDomain(value)]
    return [name, value]
  })
}

/** The address at another origin, if it is at one of these. */
function moved(address: string, from: readonly string[], to: string): string {
  const origin = from.find(one => address === one || address.startsWith(`${one}/`))
  return origin === undefined ? address : to + address.slice(origin.length)
}

function withoutDomain(cookie: string): string {
  return cookie
    .split(';')
    .filter((part, at) => at === 0 || !part.trim().toLowerCase().startsWith('domain='))
    .join(';')
}

function pairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : []))
}
