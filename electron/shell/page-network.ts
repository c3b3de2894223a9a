import type { ProxyConfig, WebContents } from 'electron'

/**
 * The page needs no network: it comes from the package, and no proxy is asked for that. So its session knows no way
 * out but a proxy where nobody answers. The updater has a session of its own.
 */
export const noNetwork: ProxyConfig & { proxyRules: string; proxyBypassRules: string } = {
  mode: 'fixed_servers',
  proxyRules: 'socks5://127.0.0.1:9',
  // Chromium would go to loopback past any proxy.
  proxyBypassRules: '<-loopback>',
}

/** WebRTC, which no content policy holds, goes by that proxy or nowhere. */
export const webRtcPolicy = 'disable_non_proxied_udp' satisfies Parameters<
  WebContents['setWebRTCIPHandlingPolicy']
>[0]
