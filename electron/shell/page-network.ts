import type { ProxyConfig, WebContents } from 'electron'

/**
 * The page needs no network: it comes from the package, which needs no proxy. Its session therefore only has a proxy
 * that does not exist. The updater has a session of its own.
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
