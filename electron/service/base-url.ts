import { sentenceFor } from './http/sentences.ts'
import { ServiceError } from './service-error.ts'

/** A checked address of a service: https, or http on loopback; no credentials, query, hash or trailing slash. */
export type BaseUrl = string & { readonly baseUrl: unique symbol }

/**
 * Reads what a person typed as base URL. A path prefix is kept, trailing slashes go.
 * @throws ServiceError `bad_url`, `insecure_url` or `url_has_credentials`
 */
export function parseBaseUrl(text: string): BaseUrl {
  if (!URL.canParse(text.trim())) throw refuse('bad_url')
  const url = new URL(text.trim())
  if ((url.protocol !== 'https:' && url.protocol !== 'http:') || url.hostname === '') {
    throw refuse('bad_url')
  }
  if (url.username !== '' || url.password !== '') throw refuse('url_has_credentials')
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(text)) throw refuse('bad_url')
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) throw refuse('insecure_url')
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}` as BaseUrl
}

/** `localhost` and its subdomains never leave the machine (RFC 6761); the URL parser has normalised addresses. */
function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  )
}

function refuse(code: 'bad_url' | 'insecure_url' | 'url_has_credentials'): ServiceError {
  return new ServiceError({ code, status: 0, ...sentenceFor(code) })
}
