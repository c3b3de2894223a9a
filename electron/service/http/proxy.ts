import type https from 'node:https'
import { isLoopback } from '../base-url.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Finds the proxy for an address: its URL, maybe with a password. Electron's entry asks the system first. */
export const proxies = { find: async (url: string) => proxyInEnvironment(url, process.env) }

/** A proxy doesn't lead to the service: nothing was sent. `proxy` is its address without a password. */
export class ProxyFailed extends Error {
  readonly proxy: string

  constructor(proxy: string, why: string) {
    super(`The proxy ${proxy} ${why}.`)
    this.proxy = proxy
  }
}

/**
 * The proxy that HTTPS_PROXY or ALL_PROXY names, unless NO_PROXY excludes the host. As curl reads them: small letters
 * come first; an entry of NO_PROXY is a host with all below it, maybe with a port, or `*`.
 */
export function proxyInEnvironment(url: string, env: Environment): string | undefined {
  const read = (name: string) => env[name] || env[name.toUpperCase()] || ''
  const proxy = read('https_proxy') || read('all_proxy')
  const { hostname, port } = new URL(url)
  const excluded = read('no_proxy')
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
  if (proxy === '' || excluded.some(entry => isWithin(entry, hostname, port || '443'))) return undefined
  return proxy.includes('://') ? proxy : `http://${proxy}`
}

function isWithin(entry: string, hostname: string, port: string): boolean {
  const [, host = entry, only] = /^(.+?|\[.+\]):(\d+)$/.exec(entry) ?? []
  if (only !== undefined && only !== port) return false
  const domain = host.replace(/^\*?\./, '')
  return (
    domain === '*' || hostname === domain || hostname === `[${domain}]` || hostname.endsWith(`.${domain}`)
  )
}

/** The way through a proxy, and its address without a password. */
export interface Detour {
  agent: https.Agent
  proxy: string
}

const detours = new Map<string, Detour>()
/** The proxy through which each origin was last asked. */
const used = new Map<string, string>()

/** The address, without a password, of the proxy through which a service was last asked; undefined without one. */
export function proxyOf(baseUrl: string): string | undefined {
  return used.get(new URL(baseUrl).origin)
}

/** The way to an address; undefined for the direct one, which this computer's own addresses always have. */
export async function detourTo(url: string, options: https.AgentOptions): Promise<Detour | undefined> {
  const { origin, hostname } = new URL(url)
  const found = isLoopback(hostname) ? undefined : await proxies.find(url)
  if (found === undefined) {
    used.delete(origin)
    return undefined
  }
  const proxy = addressOf(found)
  used.set(origin, proxy)
  const detour = detours.get(found) ?? (await openDetour(found, proxy, options))
  detours.set(found, detour)
  return detour
}

/** A proxy's address without its password. */
function addressOf(url: string): string {
  if (!URL.canParse(url)) return 'of this computer'
  const { protocol, host } = new URL(url)
  return `${protocol}//${host}`
}

async function openDetour(url: string, proxy: string, options: https.AgentOptions): Promise<Detour> {
  if (!URL.canParse(url)) throw new ProxyFailed(proxy, 'has an unreadable address')
  const { protocol } = new URL(url)
  if (protocol !== 'http:' && protocol !== 'https:')
    throw new ProxyFailed(proxy, 'is of a kind that Berth can’t use: only HTTP proxies work')
  const { HttpsProxyAgent } = await import('https-proxy-agent')
  return { agent: new HttpsProxyAgent(url, options) as https.Agent, proxy }
}
