import type { SshAddress } from '../../contract/instance/instance.ts'
import { BerthError } from '../../contract/problem.ts'
import { checkHost, checkPort } from './ssh-address.ts'

/** The ways in that the service tells of. */
export interface Addresses {
  direct?: SshAddress
  proxy?: SshAddress
}

/** One way in, in the order of trying. */
export interface Candidate {
  address: SshAddress
  way: 'direct' | 'proxy' | 'guess'
}

/**
 * Direct first, since it is faster, then the proxy; for runtypes with Jupyter some deployments mean the proxy's next
 * port, which is a guess. Throws `bad_address` when what the service says is refused, or when it says nothing.
 */
export function candidates(addresses: Addresses, jupyterRuntype: boolean): Candidate[] {
  const found: Candidate[] = []
  if (addresses.direct !== undefined) found.push({ address: checked(addresses.direct), way: 'direct' })
  if (addresses.proxy !== undefined) {
    const proxy = checked(addresses.proxy)
    found.push({ address: proxy, way: 'proxy' })
    if (jupyterRuntype && proxy.port < 65_535) {
      found.push({ address: { host: proxy.host, port: proxy.port + 1 }, way: 'guess' })
    }
  }
  if (found.length > 0) return found
  throw new BerthError({
    code: 'bad_address',
    message: 'The service does not say yet where the instance’s SSH answers.',
    advice: 'Wait until the instance is running, then try again.',
    field: 'ssh_host',
  })
}

export function sameAddress(one: SshAddress, other: SshAddress): boolean {
  return one.host === other.host && one.port === other.port
}

/** As people read it: `root@host:port`, an IPv6 literal in brackets. */
export function addressText({ host, port }: SshAddress): string {
  return `root@${host.includes(':') ? `[${host}]` : host}:${port}`
}

function checked({ host, port }: SshAddress): SshAddress {
  return { host: checkHost(host), port: checkPort(port) }
}
