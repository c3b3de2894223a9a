import { isIP } from 'node:net'
import { BerthError } from '#contract/problem.ts'

/**
 * Checks a host that the service gave: a DNS name or an IPv4 or IPv6 literal, in ASCII, at most 253 characters, and
 * never text that ssh could read as an option. An underscore is no letter of host names, yet resolvers and ssh take it.
 * Throws `bad_address` with the field `ssh_host`.
 */
export function checkHost(text: unknown): string {
  const fault = hostFault(text)
  if (fault === undefined && typeof text === 'string') return text
  throw new BerthError({
    code: 'bad_address',
    message: `The service's ssh_host ${fault ?? 'is missing'}, so Berth does not connect to it.`,
    advice: 'Destroy the instance and try another offer.',
    field: 'ssh_host',
  })
}

/**
 * Checks a port from 1 to 65535, also as decimal digits, which port mappings come in.
 * Throws `bad_address` with the field `ssh_port`.
 */
export function checkPort(n: unknown): number {
  const port = typeof n === 'string' && /^[1-9][0-9]{0,4}$/.test(n) ? Number(n) : n
  if (typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65_535) return port
  throw new BerthError({
    code: 'bad_address',
    message: "The service's ssh_port is not a port from 1 to 65535, so Berth does not connect to it.",
    advice: 'Destroy the instance and try another offer.',
    field: 'ssh_port',
  })
}

/** The fault of a host, as a clause that does not repeat its text, which is not trusted; undefined if valid. */
function hostFault(text: unknown): string | undefined {
  if (typeof text !== 'string' || text === '') return 'is missing'
  if (text.length > 253) return 'is longer than a host name can be'
  if (text.startsWith('-')) return 'begins with a dash, as an option of ssh would'
  if (/[^\x21-\x7e]/.test(text)) return 'has spaces, line breaks or characters outside of ASCII in it'
  if (isIP(text) !== 0 && !text.includes('%')) return undefined
  const labels = text.replace(/\.$/, '').split('.')
  if (!labels.every(label => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i.test(label)))
    return 'is not a host name'
  // Resolvers read 127.1, 2130706433 and 0x7f.1 as addresses, each in their own way.
  if (/^([0-9]+|0x[0-9a-f]*)$/i.test(labels.at(-1) ?? '')) return 'is neither a host name nor a whole address'
  return undefined
}
