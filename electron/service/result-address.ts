import { lookup } from 'node:dns'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { isLoopback } from './base-url.ts'

const privateNets = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/3'],
  ...['::/127', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
  // They embed an IPv4 address, which may be private.
  ...['::ffff:0:0/96', '64:ff9b:1::/48', '2001::/32', '2002::/16'],
]

/** By family: in a common list, `::ffff:0:0/96` would match every IPv4 address. Made when first asked. */
let notPublic: Record<4 | 6, BlockList> | undefined

function privateLists(): Record<4 | 6, BlockList> {
  const lists = { 4: new BlockList(), 6: new BlockList() }
  for (const net of privateNets) {
    const [address = '', prefix = ''] = net.split('/')
    if (isIP(address) === 6) lists[6].addSubnet(address, Number(prefix), 'ipv6')
    else lists[4].addSubnet(address, Number(prefix), 'ipv4')
  }
  return lists
}

/** Whether an IP address is public: not loopback, private, link-local or multicast. */
export function isPublicAddress(address: string): boolean {
  notPublic ??= privateLists()
  if (isIP(address) === 6) return !notPublic[6].check(address, 'ipv6')
  return isIP(address) === 4 && !notPublic[4].check(address, 'ipv4')
}

/**
 * A result's address if it may be fetched: https outside of private networks, or loopback if the service is there too.
 * {@link publicLookup} checks the addresses of names.
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

/** A name resolved to an address that is not public. */
export class PrivateAddress extends Error {}

/** Resolves names for a connection, and refuses names with any address that is not public. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    const first = addresses?.[0]
    if (error || !first) return callback(error ?? new Error('no address'), '')
    if (!addresses.every(({ address }) => isPublicAddress(address))) return callback(new PrivateAddress(), '')
    if (options.all) callback(null, addresses)
    else callback(null, first.address, first.family)
  })
}
