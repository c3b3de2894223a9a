import { lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { isLoopback } from './base-url.ts'

const privateNets = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/3'],
  ...['::/127', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
  // They carry an IPv4 address, which may be any.
  ...['::ffff:0:0/96', '64:ff9b:1::/48', '2001::/32', '2002::/16'],
]

/** By family: in one list, every IPv4 address would be of the net of those that are written as IPv6. */
const notPublic = { 4: new BlockList(), 6: new BlockList() }
for (const net of privateNets) {
  const [address = '', prefix = ''] = net.split('/')
  if (isIP(address) === 6) notPublic[6].addSubnet(address, Number(prefix), 'ipv6')
  else notPublic[4].addSubnet(address, Number(prefix), 'ipv4')
}

/** Whether an IP address is one of the public internet: not of this machine, a home, a company, or a group. */
export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 6) return !notPublic[6].check(address, 'ipv6')
  return isIP(address) === 4 && !notPublic[4].check(address, 'ipv4')
}

/**
 * The address of a result, if it is one that may be fetched: https and not of a private network, or on loopback where
 * the service itself is there. Names are looked at again as they are resolved: see {@link publicLookup}.
 */
export function resultAddress(text: string, baseUrl: string): URL | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return undefined
  const host = url.hostname.replace(/^\[|\]$/g, '')
  if (isLoopback(url.hostname)) {
    return isLoopback(new URL(baseUrl).hostname) && /^https?:$/.test(url.protocol) ? url : undefined
  }
  if (url.protocol !== 'https:') return undefined
  return isIP(host) === 0 || isPublicAddress(host) ? url : undefined
}

/** A name that leads to an address which is not public. */
export class PrivateAddress extends Error {}

/** Resolves names for a connection, and refuses those of which any address is not public. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const first = addresses?.[0]
    if (error || !first) return callback(error ?? new Error('no address'), '')
    if (!addresses.every(({ address }) => isPublicAddress(address))) return callback(new PrivateAddress(), '')
    if (options.all) callback(null, addresses)
    else callback(null, first.address, first.family)
  })
}
