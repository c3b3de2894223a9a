import type { Readable } from 'node:stream'
import { isLoopback } from '#service/base-url.ts'
import { networkFailure } from '#service/http/failure.ts'
import { NotSent, wire } from '#service/http/http-request.ts'
import { ProxyFailed } from '#service/http/proxy.ts'
import { PrivateAddress, publicLookup, resultAddress } from '#service/result.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import type { Delivery } from './formats.ts'
import {
  lostAnswer,
  movedElsewhere,
  notReached,
  privateAddress,
  receiverBehindProxy,
  receiverSilent,
  refusedWith,
  untrusted,
  wrongAddress,
} from './messages.ts'

/** How a delivery ended. `refused`: the same will most likely be refused again; `asked`: milliseconds to wait. */
export type Outcome = 'accepted' | { problem: Problem; refused?: boolean; asked?: number }

/** Sends one message; of the receiver's words only a failure is read. Never rejects. */
export type Post = (delivery: Delivery, quitting: AbortSignal) => Promise<Outcome>

/** Milliseconds for the whole exchange. */
const patience = 20_000

/** An address that alerts may be sent to: public https, or a program on this computer. Throws `wrong_address`. */
export function checkedAddress(text: string): string {
  const url = resultAddress(text.trim(), 'http://localhost')
  if (url?.hash !== '') throw new BerthError(wrongAddress)
  return url.href
}

/** Without redirects, and never to a private network. `within`: milliseconds for each. */
export function poster(within = patience): Post {
  return async ({ url, headers, body }, quitting) => {
    const late = AbortSignal.timeout(within)
    const { hostname } = new URL(url)
    try {
      const answer = await wire.send({
        url,
        method: 'POST',
        headers,
        body,
        signal: AbortSignal.any([quitting, late]),
        ...(!isLoopback(hostname) && { lookup: publicLookup }),
      })
      const status = await trueStatus(answer)
      if (status >= 200 && status < 300) return 'accepted'
      // A gateway may redirect for a moment.
      if (status >= 300 && status < 400) return { problem: movedElsewhere }
      const seconds = Number(answer.headers['retry-after'])
      return {
        problem: refusedWith(status),
        refused: status >= 400 && status < 500 && ![408, 425, 429].includes(status),
        asked: seconds > 0 ? 1000 * seconds : 0,
      }
    } catch (error) {
      return { problem: late.aborted ? receiverSilent : problemIn(error) }
    }
  }
}

/** Milliseconds for the begin of an accepting answer's text, and its characters. */
const begin = { within: 2000, length: 512 }

/**
 * The status of an answer. Connectors of Teams answer 200 and name the real one in the text, for a message that they did
 * not deliver. Nothing else is read of it.
 */
async function trueStatus({ status, body }: { status: number; body: Readable }): Promise<number> {
  body.on('error', () => undefined)
  const timer = setTimeout(() => body.destroy(), begin.within)
  let text = ''
  try {
    if (status === 200)
      for await (const chunk of body) {
        text += String(chunk).slice(0, begin.length)
        if (text.length >= begin.length) break
      }
  } catch {
    // What came before counts.
  } finally {
    clearTimeout(timer)
    body.destroy()
  }
  const [, real] = /^"?Webhook message delivery failed\b.*?\bHTTP error (\d{3})\b/s.exec(text) ?? []
  return real === undefined ? status : Number(real)
}

function problemIn(error: unknown): Problem {
  if (!(error instanceof NotSent)) return lostAnswer
  const { cause } = error
  if (cause instanceof PrivateAddress) return privateAddress
  if (cause instanceof ProxyFailed) return receiverBehindProxy(cause.message)
  return networkFailure(cause, false) === 'untrusted_certificate' ? untrusted : notReached
}
