import type { SshAddress } from '#contract/instance/instance.ts'
import { BerthError } from '#contract/problem.ts'
import { checkHost, checkPort } from './ssh-address.ts'

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
  let fault: unknown = notTold()
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

function notTold(): BerthError {
  return new BerthError({
    code: 'bad_address',
    message: 'The service hasn’t reported the instance’s SSH address yet.',
    advice: 'Wait until the instance is running, then try again.',
    field: 'ssh_host',
  })
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
