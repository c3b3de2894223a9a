import { lookup } from 'node:dns'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { systemClock } from '#platform/clock-and-random.ts'
import type { Clock } from '#platform/platform.ts'
import { sleep } from '#platform/tasks.ts'
import { isLoopback } from './base-url.ts'
import { errorSentence, type OwnCode } from './http/error-messages.ts'
import { networkFailure } from './http/failure.ts'
import { ServiceError } from './service-error.ts'

export interface ResultOptions {
  /** The base URL of the service that sent the address. */
  baseUrl: string
  signal?: AbortSignal
  clock?: Clock
}

export interface Result {
  text: string
  /** Whether the text was longer than Berth reads. */
  cut: boolean
}

/** The most bytes to read. */
const MOST = 1_000_000
/** Milliseconds: for one answer, between two tries, and for all tries. */
const ANSWER = 20_000
const PAUSE = 1_500
const PATIENCE = 45_000

/**
 * Fetches a text from an address that the service sent, on another host: without the key, without redirects, never
 * from a private network, and at most a megabyte. Retries while it is not available yet (403, 404). @throws
 * ServiceError `unsafe_result`, `no_result`, `redirected`, `aborted` or a network error
 */
export async function fetchResult(address: string, options: ResultOptions): Promise<Result> {
  const { baseUrl, signal, clock = systemClock } = options
  const url = resultAddress(address, baseUrl)
  if (!url) throw failure('unsafe_result')
  const end = clock.monotonic() + PATIENCE
  for (;;) {
    const { status, result } = await fetchOnce(url, signal)
    if (result) return result
    if ((status !== 403 && status !== 404) || clock.monotonic() >= end) throw failure('no_result', status)
    await sleep(clock, PAUSE, signal).catch(() => {
      throw failure('aborted')
    })
  }
}

/** One answer: the text of a 200, else only its status. */
async function fetchOnce(url: URL, signal: AbortSignal | undefined) {
  const late = AbortSignal.timeout(ANSWER)
  try {
    const answer = await open(url, signal ? AbortSignal.any([signal, late]) : late)
    const status = answer.statusCode ?? 0
    if (status === 200) return { status, result: await read(answer) }
    answer.destroy()
    if (status >= 300 && status < 400) throw failure('redirected', status)
    return { status, result: undefined }
  } catch (error) {
    if (error instanceof ServiceError) throw error
    if (error instanceof PrivateAddress) throw failure('unsafe_result')
    if (signal?.aborted) throw failure('aborted')
    throw failure(late.aborted ? 'timeout' : networkFailure(error, false))
  }
}

/** Without redirects and keep-alive. */
function open(url: URL, signal: AbortSignal): Promise<IncomingMessage> {
  const { get } = url.protocol === 'https:' ? https : http
  const guard = isLoopback(url.hostname) ? {} : { lookup: publicLookup }
  return new Promise((resolve, reject) => {
    get(url, { ...guard, signal, agent: false }, resolve)
      .on('error', reject)
      // As in `http/wire.ts`: Node reports nothing for an answer that switches protocols.
      .once('close', () => reject(new Error('closed without an answer')))
  })
}

async function read(answer: IncomingMessage): Promise<Result> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MOST) break
  }
  const text = new TextDecoder().decode(Buffer.concat(chunks).subarray(0, MOST))
  return { text, cut: bytes > MOST }
}

function failure(code: OwnCode, status = 0): ServiceError {
  return new ServiceError({ code, status, ...errorSentence(code) })
}

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
