import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Alert } from '#core/alerts/events.ts'
import { Relays, type RelaysContext } from '#core/relays/perform.ts'
import { createStore } from '#core/storage/store.ts'
import type { AlertKind } from '#shared/alert-kinds.ts'
import type { RelayForm } from '#shared/relay.ts'
import { emptyState } from '../unit/views.ts'
import { HandClock } from './clocks.ts'
import { MemoryFiles, testKeychain } from './machine.ts'

export const neverQuiet = { on: false, from: '22:00', to: '07:00', critical: true }

export function relayForm(given: Partial<RelayForm> = {}): RelayForm {
  const alerts: AlertKind[] = ['hostGone', 'outbid', 'run', 'ready', 'limit', 'lowCredit']
  return { kind: 'webhook', name: 'Phone', alerts, quietHours: neverQuiet, ...given }
}

export function alert(title: string, given: Partial<Alert> = {}): Alert {
  return {
    ...{ id: `a00000001/${title}`, kind: 'hostGone', urgency: 'critical', actions: [] },
    ...{ place: { screen: 'instances' }, title, body: `About ${title}.`, ...given },
  } as Alert
}

/** The context of relays, with files and a keychain in memory; `said` has the texts of Activity. */
export function relaysContext(given: Partial<RelaysContext> = {}) {
  let ids = 0
  const said: string[] = []
  const context: RelaysContext = {
    store: createStore(emptyState()),
    clock: new HandClock(),
    random: {
      hex(digits) {
        ids += 1
        return ids.toString(16).padStart(digits, '0')
      },
    },
    files: new MemoryFiles(),
    keychain: testKeychain(),
    activity: { add: ({ text }) => void said.push(text) },
    mask: text => text,
    post: async () => 'accepted',
    onBroken: ({ name, why }) => {
      throw new Error(`${name} ${why}`)
    },
    ...given,
  }
  return { context, said, open: () => Relays.open(context) }
}

/** What a receiver got. */
export interface Received {
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** Answers a request; without one, it's accepted. */
type Answering = (response: ServerResponse, got: Received) => void

/** A receiver of messages on loopback. */
export async function receiver() {
  const got: Received[] = []
  let answer: Answering = response => response.writeHead(200).end('ok')
  const waiting = new Set<() => void>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => void chunks.push(chunk))
    request.on('end', () => {
      const { url = '', headers } = request
      const received = { path: url, headers, body: Buffer.concat(chunks).toString() }
      got.push(received)
      answer(response, received)
      for (const look of waiting) look()
    })
  })
  await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
  return {
    got,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers: (next: Answering) => {
      answer = next
    },
    /** Resolves once it got so many messages. */
    async until(count: number): Promise<void> {
      if (got.length >= count) return
      await new Promise<void>(resolve => {
        const look = () => {
          if (got.length < count) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
      })
    },
    async close(): Promise<void> {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
