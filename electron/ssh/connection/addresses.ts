import { isIP } from 'node:net'
import type { SshAddress } from '#shared/instance/instance.ts'
import { BerthError, type Problem } from '#shared/problem.ts'

/** An instance's SSH addresses, as the service lists them. */
export interface Addresses {
  direct?: SshAddress
  proxy?: SshAddress
}

/** An address to try. */
export interface Candidate {
  address: SshAddress
  way: 'direct' | 'proxy' | 'guess'
}

/**
 * The addresses to try: direct first, since it is faster, then the proxy. Some deployments mean the port after the
 * proxy's for runtypes with Jupyter, which is tried last. An invalid address is left out. Throws `bad_address` where
 * none is left.
 */
export function candidates(addresses: Addresses, jupyterRuntype: boolean): Candidate[] {
  const found: Candidate[] = []
  let fault: unknown = new BerthError(notTold)
  for (const way of ['direct', 'proxy'] as const) {
    const address = addresses[way]
    try {
      if (address) found.push({ address: checked(address), way })
    } catch (error) {
      fault = error
    }
  }
  const proxy = found.find(({ way }) => way === 'proxy')?.address
  if (jupyterRuntype && proxy && proxy.port < 65_535)
    found.push({ address: { host: proxy.host, port: proxy.port + 1 }, way: 'guess' })
  if (found.length > 0) return found
  throw fault
}

const notTold: Problem = {
  code: 'bad_address',
  message: 'The service hasn’t reported the instance’s SSH address yet.',
  advice: 'Wait until the instance is running, then try again.',
  field: 'ssh_host',
}

export function sameAddress(one: SshAddress, other: SshAddress): boolean {
  return one.host === other.host && one.port === other.port
}

/** For display: `root@host:port`, with an IPv6 literal in brackets. */
export function addressText({ host, port }: SshAddress): string {
  return `root@${host.includes(':') ? `[${host}]` : host}:${port}`
}

function checked({ host, port }: SshAddress): SshAddress {
  return { host: checkHost(host), port: checkPort(port) }
}

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
