import { withoutEnd } from '../shared/text.ts'
import { errorSentence } from './http/error-messages.ts'
import { ServiceError } from './service-error.ts'

/** A checked address of a service: https, or http on loopback; no credentials, query, hash or trailing slash. */
export type BaseUrl = string & { readonly baseUrl: unique symbol }

/** A host, perhaps with a port and a path, as people type it: `gpu.example:8443`. */
const withoutScheme = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(:\d+)?(\/.*)?$/i

/**
 * Parses a typed base URL. Keeps a path prefix, removes trailing slashes and the `/api/v0` with which all paths of the
 * interface begin. The default scheme is https, or http on loopback.
 * @throws ServiceError `bad_url`, `insecure_url` or `url_has_credentials`
 */
export function parseBaseUrl(text: string): BaseUrl {
  const address = withScheme(text.trim())
  if (!URL.canParse(address)) throw refuse('bad_url')
  const url = new URL(address)
  if ((url.protocol !== 'https:' && url.protocol !== 'http:') || url.hostname === '') {
    throw refuse('bad_url')
  }
  if (url.username !== '' || url.password !== '') throw refuse('url_has_credentials')
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(text)) throw refuse('bad_url')
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) throw refuse('insecure_url')
  const path = withoutEnd(url.pathname, '/')
  const prefix = path.endsWith('/api/v0') ? withoutEnd(path.slice(0, -'/api/v0'.length), '/') : path
  return `${url.origin}${prefix}` as BaseUrl
}

function withScheme(address: string): string {
  if (!withoutScheme.test(address)) return address
  const plain = `http://${address}`
  return URL.canParse(plain) && isLoopback(new URL(plain).hostname) ? plain : `https://${address}`
}

/** `localhost` and its subdomains never leave the machine (RFC 6761); the URL parser has normalised addresses. */
export function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  )
}

function refuse(code: 'bad_url' | 'insecure_url' | 'url_has_credentials'): ServiceError {
  return new ServiceError({ code, status: 0, ...errorSentence(code) })
}
