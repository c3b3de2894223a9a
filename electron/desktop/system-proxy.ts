import { session } from 'electron'
import { proxyInEnvironment } from '#service/http/proxy.ts'

/**
 * The proxy for an address by the system's settings, as Electron reads them, else by the environment. Electron drops
 * the password of a proxy in the environment, so the same proxy there is preferred.
 */
export async function systemProxy(url: string): Promise<string | undefined> {
  const inEnvironment = proxyInEnvironment(url, process.env)
  const [kind = '', host = ''] =
    (await session.defaultSession.resolveProxy(url)).split(';')[0]?.split(' ') ?? []
  const scheme = schemes[kind]
  if (scheme === undefined) return inEnvironment
  const isSame =
    inEnvironment !== undefined && URL.canParse(inEnvironment) && new URL(inEnvironment).host === host
  return isSame ? inEnvironment : `${scheme}://${host}`
}

/** By the words of a proxy auto-configuration; `DIRECT` has none. */
const schemes: Readonly<Record<string, string>> = {
  PROXY: 'http',
  HTTPS: 'https',
  SOCKS: 'socks4',
  SOCKS4: 'socks4',
  SOCKS5: 'socks5',
}
