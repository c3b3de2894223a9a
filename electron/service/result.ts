import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { isLoopback } from './base-url.ts'
import { machineClock, type RequestClock } from './http/clock.ts'
import { networkFailure } from './http/failure.ts'
import { errorSentence, type OwnCode } from './http/sentences.ts'
import { PrivateAddress, publicLookup, resultAddress } from './result-address.ts'
import { ServiceError } from './service-error.ts'

export interface ResultOptions {
  /** The base URL of the service that sent the address. */
  baseUrl: string
  signal?: AbortSignal
  clock?: RequestClock
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
  const { baseUrl, signal, clock = machineClock } = options
  const url = resultAddress(address, baseUrl)
  if (!url) throw failure('unsafe_result')
  const end = clock.now() + PATIENCE
  for (;;) {
    const { status, result } = await fetchOnce(url, signal)
    if (result) return result
    if ((status !== 403 && status !== 404) || clock.now() >= end) throw failure('no_result', status)
    await clock.sleep(PAUSE, signal).catch(() => {
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
