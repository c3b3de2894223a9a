import type { ProxyConfig, WebContents } from 'electron'

/** The page's address under Electron. Its own scheme makes it an origin, which files do not share. */
export const pageScheme = 'app'
export const pageOrigin = 'app://berth'
export const pageAddress = `${pageOrigin}/index.html`

/** Whether an address is the page's own. */
export function isPage(address: string): boolean {
  if (!URL.canParse(address)) return false
  const { protocol, host, username, password, port } = new URL(address)
  return protocol === 'app:' && host === 'berth' && username === '' && password === '' && port === ''
}

/** The instance's id in the address of a details window; undefined for other addresses. */
export function detailsOf(address: string): string | undefined {
  const [, rest] = isPage(address) ? address.split('?details#/instances/', 2) : []
  return /^(\d+)(?:\/[a-z]+)?$/.exec(rest ?? '')?.[1]
}

/**
 * The page needs no network: it comes from the package, which needs no proxy. Its session therefore only has a proxy
 * that does not exist. The updater has a separate session.
 */
export const noNetwork: ProxyConfig & { proxyRules: string; proxyBypassRules: string } = {
  mode: 'fixed_servers',
  proxyRules: 'socks5://127.0.0.1:9',
  // By default Chromium bypasses the proxy for loopback.
  proxyBypassRules: '<-loopback>',
}

/** WebRTC ignores the content security policy, so it may use that proxy alone. */
export const webRtcPolicy = 'disable_non_proxied_udp' satisfies Parameters<
  WebContents['setWebRTCIPHandlingPolicy']
>[0]
