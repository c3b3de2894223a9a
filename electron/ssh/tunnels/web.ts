import { type IncomingMessage, request } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Clock } from '#platform/platform.ts'
import { overTls, PortRefused } from './channel.ts'
import { isOwnHost, type WebServer } from './web-headers.ts'

/** A web server, with its status for the first question. */
export interface WebAnswer {
  server: WebServer
  status: number
}

/**
 * The server at a port of an instance. `silent`: something accepts connections and says nothing, as a web server does
 * while it loads a model; `other`: no web server.
 */
export type Answering = 'nothing' | 'silent' | 'other' | WebAnswer

export interface WebProbe {
  path: string
  headers?: Readonly<Record<string, string>>
  /** Milliseconds for the first byte of an answer. */
  patience?: number
}

const usualPatience = 10_000
/** Milliseconds for a TLS handshake, which no model holds up. */
const handshake = 3000
/** Milliseconds for a page, and the most characters of it that are searched for the server's own address. */
const pageWithin = 10_000
const longestPage = 2 * 1024 * 1024
/** Stands for the browser's address where a server is asked how it takes to one. */
const elsewhere = 'berth.localhost:20000'

/** Answers to plain HTTP that servers give at a port that speaks TLS. */
const mayMeanTls = new Set([400, 403, 421, 426, 497])
/** Answers to a `Host` that the server does not accept. */
const mayMeanHost = new Set([400, 403, 421])

/**
 * Identifies the server at a port: asks by plain HTTP, by TLS where the answer may mean that the port speaks TLS, and
 * under other names where it may mean that the name was wrong. Throws if the connection is lost.
 */
export async function whatAnswers(
  dial: () => Promise<Duplex>,
  port: number,
  clock: Clock,
  question: WebProbe = { path: '/' },
): Promise<Answering> {
  const [usual = '', ...others] = [`localhost:${port}`, `127.0.0.1:${port}`, 'localhost', '127.0.0.1']
  const plain = await ask(dial, clock, { tls: false, host: usual }, question)
  if (plain === 'nothing') return plain
  const secured =
    typeof plain === 'string' || isForTls(plain)
      ? await ask(dial, clock, { tls: true, host: usual }, question)
      : undefined
  const first = typeof secured === 'object' ? secured : plain
  if (typeof first === 'string') return plain === 'silent' || secured === 'silent' ? 'silent' : 'other'
  const tls = first === secured
  let accepted = first
  for (const host of others) {
    if (accepts(accepted)) break
    const answer = await ask(dial, clock, { tls, host }, question)
    if (typeof answer === 'string') break
    if (accepts(answer)) accepted = answer
  }
  const { server, status } = accepted
  const host = (await writesItsAddress(accepted)) ? undefined : server.host
  return { server: { tls, host }, status }

  /** Whether it writes the address that it is asked at into its pages, and takes to any. */
  async function writesItsAddress({ page, server }: Reply): Promise<boolean> {
    if (!names(page, server.host)) return false
    const reply = await ask(dial, clock, { tls, host: elsewhere }, question)
    return typeof reply === 'object' && names(reply.page, elsewhere)
  }
}

/** The HTTP status of one GET; undefined if the answer is not HTTP or is late. */
export async function statusOf(
  dial: () => Promise<Duplex>,
  clock: Clock,
  server: WebServer,
  question: WebProbe,
): Promise<number | undefined> {
  const reply = await ask(dial, clock, { ...server, host: server.host ?? elsewhere }, question)
  return typeof reply === 'object' ? reply.status : undefined
}

/** An answer to one GET. */
interface Reply {
  server: WebServer & { host: string }
  path: string
  status: number
  location: string | undefined
  /** The beginning of an HTML page; else empty. */
  page: string
}

async function ask(
  dial: () => Promise<Duplex>,
  clock: Clock,
  server: WebServer & { host: string },
  { path, headers, patience = usualPatience }: WebProbe,
): Promise<Exclude<Answering, WebAnswer> | Reply> {
  let channel: Duplex
  try {
    channel = await dial()
  } catch (error) {
    if (error instanceof PortRefused) return 'nothing'
    throw error
  }
  // A channel that is cut says so by `close`.
  channel.on('error', () => undefined)
  try {
    const stream = server.tls ? await limited(clock, handshake, overTls(channel)) : channel
    const response = await limited(clock, patience, get(stream, path, { ...headers, host: server.host }))
    const { statusCode: status = 0, headers: answered } = response
    const isPage = /^text\/html\b/i.test(answered['content-type'] ?? '')
    const page = isPage ? await textOf(response, clock) : ''
    return { server, path, status, location: answered.location, page }
  } catch (error) {
    return error instanceof Silence ? 'silent' : 'other'
  } finally {
    channel.destroy()
  }
}

function get(channel: Duplex, path: string, headers: Record<string, string>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const asking = request({
      createConnection: () => channel,
      path,
      headers: { connection: 'close', ...headers },
      maxHeaderSize: 65_536,
    })
    asking.on('response', response => {
      response.on('error', () => undefined)
      resolve(response)
    })
    asking.on('upgrade', resolve)
    asking.on('error', reject)
    asking.on('close', () => reject(new Error('it closed the connection')))
    asking.end()
  })
}

/** A response's text, as much of it as comes in time. */
async function textOf(response: IncomingMessage, clock: Clock): Promise<string> {
  let text = ''
  const cancel = clock.after(pageWithin, () => response.destroy())
  try {
    for await (const part of response.setEncoding('latin1')) {
      text += part
      if (text.length > longestPage) break
    }
  } catch {
    // The part that arrived is checked.
  } finally {
    cancel()
  }
  return text
}

/** Whether plain HTTP was answered as at a port that speaks TLS: refused, or led to https. */
function isForTls({ status, location = '' }: Reply): boolean {
  return mayMeanTls.has(status) || (isRedirect(status) && /^\s*https:/i.test(location))
}

/** Whether the server takes to this `Host`: neither refuses it, nor leads to the same page at another of its names. */
function accepts({ server, path, status, location }: Reply): boolean {
  if (mayMeanHost.has(status)) return false
  const at = new URL(path, `${server.tls ? 'https' : 'http'}://${server.host}`)
  const to = isRedirect(status) ? URL.parse(location ?? '', at) : null
  if (!to || to.host === at.host || !isOwnHost(to.hostname)) return true
  return to.pathname + to.search !== at.pathname + at.search
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status)
}

/** Whether a page has absolute addresses at this host, in HTML or in JSON. */
function names(page: string, host: string): boolean {
  return page.includes(`//${host}`) || page.includes(`\\/\\/${host}`)
}

class Silence extends Error {}

function limited<T>(clock: Clock, within: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(within, () => reject(new Silence('it doesn’t respond')))
    work.then(resolve, reject).finally(cancel)
  })
}
