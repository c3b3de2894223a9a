import { createHash, randomBytes, randomInt, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tunnelPorts } from '#ssh/tunnels/local-port.ts'
import type { Clock } from '../platform/platform.ts'

/** Milliseconds until the unused address expires: a browser may have to start first. */
const validFor = 60_000
const loopback = '127.0.0.1'

/**
 * An address on loopback that redirects to another, once, and only for a program of this user: every user of the
 * machine sees it on the command line, and could be first. Undefined where the system does not list the owners of
 * connections.
 */
export async function oneUseAddress(
  target: string,
  clock: Clock,
  connections: Connections = systemConnections,
): Promise<string | undefined> {
  const user = process.getuid?.()
  const server = loopbackServer(withForeignCookies)
  server.listen({ host: loopback, port: 0, exclusive: true })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const here = { address: loopback, port }
  // The list must contain this very socket, or it is not reliable.
  if (user === undefined || listenerAt(await connections(), here) !== user) {
    server.close()
    return undefined
  }

  const host = `${loopback}:${port}`
  const path = `/${randomBytes(32).toString('base64url')}`
  let open = true
  const close = () => {
    open = false
    server.close()
    server.closeIdleConnections()
  }
  const forget = clock.after(validFor, close)

  async function isUsers({ socket }: IncomingMessage): Promise<boolean> {
    const { remoteAddress: address = '', remotePort = 0 } = socket
    return ownerOf(await connections(), { address, port: remotePort }, here) === user
  }

  /** The status of a refusal. The first request that is not refused uses the address up. */
  async function refuse(request: IncomingMessage): Promise<number | undefined> {
    if (request.headers.host !== host || !(await isUsers(request))) return 403
    if (!sameToken(request.url ?? '', path)) return 404
    if (request.method !== 'GET') return 405
    if (!open) return 410
    forget()
    close()
    return undefined
  }

  server.on('request', async (request, response) => {
    const refusal = await refuse(request)
    const always = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer', connection: 'close' }
    if (refusal === undefined) {
      // A redirect, not a page: no script from an earlier use of this port can read its target.
      response.writeHead(303, { ...always, location: target })
      response.end()
      return
    }
    response.writeHead(refusal, { ...always, 'content-type': 'text/plain' })
    response.end(`${refusal}: This address works once. Open the one that Berth printed or copied.\n`)
  })
  return `http://${host}${path}`
}

/** One end of an IPv4 connection. */
interface End {
  address: string
  port: number
}

/** The system's list of connections as text; empty where there is none. */
type Connections = () => Promise<string>

const states = { established: '01', listening: '0A' }

/** Linux's lists of both families: some programs reach IPv4 through an IPv6 socket. */
async function systemConnections(): Promise<string> {
  const lists = ['/proc/net/tcp', '/proc/net/tcp6'].map(path => readFile(path, 'utf8').catch(() => ''))
  return (await Promise.all(lists)).join('\n')
}

/** The user id of the process at that end of a connection; undefined where the list has no such entry. */
export function ownerOf(list: string, end: End, other: End): number | undefined {
  return holderOf(list, written(end), written(other), states.established)
}

/** The user id of the process that listens there; undefined where the list has no such entry. */
export function listenerAt(list: string, end: End): number | undefined {
  return holderOf(list, written(end), ['00000000:0000'], states.listening)
}

function holderOf(
  list: string,
  ends: readonly string[],
  others: readonly string[],
  wanted: string,
): number | undefined {
  for (const line of list.split('\n')) {
    const [, end = '', other = '', state, , , , owner] = line.trim().split(/\s+/)
    // The list attributes a closing connection to root.
    if (state === wanted && ends.includes(end) && others.includes(other)) return Number(owner)
  }
  return undefined
}

/** An end as the IPv4 list (`0100007F:1F90`) and the IPv6 list write it: the address's bytes from last to first. */
function written({ address, port }: End): string[] {
  const hex = (number: number, digits: number) => number.toString(16).toUpperCase().padStart(digits, '0')
  const bytes = address.split('.').map(byte => hex(Number(byte), 2))
  const plain = `${bytes.toReversed().join('')}:${hex(port, 4)}`
  return [plain, `0000000000000000FFFF0000${plain}`]
}

/**
 * Bytes of headers that a server on 127.0.0.1 must accept: cookies ignore ports, so the browser sends those of other
 * local pages too, up to 180 of 4 KB.
 */
export const withForeignCookies = 1024 * 1024

/** Every user of this machine can reach it, so connections are limited, and idle ones dropped. */
export function loopbackServer(maxHeaderSize = 16 * 1024): Server {
  const server = createServer({
    maxHeaderSize,
    headersTimeout: 5_000,
    requestTimeout: 10_000,
    connectionsCheckingInterval: 1_000,
  })
  server.maxConnections = 128
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // A browser opens connections ahead. An answer 408 on one could meet the request that it was kept for, and pass for its
    // answer; where the connection is gone, the browser asks again.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') socket.destroy()
    else
      socket.end(`HTTP/1.1 ${refusals[error.code ?? ''] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`)
  })
  return server
}

/** Other answers to what is no request, by Node's codes. */
const refusals: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
}

/** The ports for browser mode to try: the one asked for, or for 0 random ones, all above those of tunnels. */
export function* pagePorts(port: number): Generator<number> {
  if (port !== 0) return yield port
  for (let attempt = 0; attempt < 100; attempt++) yield randomInt(tunnelPorts.to + 1, 65_536)
}

/** 256 random bits in characters that addresses and subprotocols allow. */
export function newPageToken(): string {
  return randomBytes(32).toString('base64url')
}

/** Compares tokens in a time that does not depend on where they differ. */
export function sameToken(given: string, token: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(token))
}
