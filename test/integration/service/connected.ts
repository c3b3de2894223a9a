import { parseBaseUrl } from '#service/base-url.ts'
import { createClient, type FullClient } from '#service/client.ts'
import type { NewInstance } from '#service/new-instance.ts'
import { type Simulator, type SimulatorOptions, startSimulator } from '#simulator/simulator.ts'
import type { Message } from '#simulator/world/account.ts'
import { LeapingClock } from '#test/berth/clocks.ts'

/** A simulator, Berth's client for it, and steps for tests. */
export interface Connected {
  simulator: Simulator
  /** The client with the account's own key. */
  client: FullClient
  /** A client with another key. */
  as(key: string): FullClient
  /** Rents the cheapest offer; gives the instance's id and key. */
  rent(body?: NewInstance): Promise<{ id: number; key: string }>
  minutes(count: number): Promise<void>
  /** The latest email or text message with a code. */
  message(): Message
}

/** World time moves only by `minutes`. The client neither waits nor repeats. */
export async function connect(options: SimulatorOptions = {}): Promise<Connected> {
  const simulator = await startSimulator({
    ...{ speed: 0.001, calm: true, limits: false, offers: 40 },
    ...options,
  })
  const baseUrl = parseBaseUrl(simulator.baseUrl)
  const as = (key: string) => createClient({ baseUrl, key, retries: 0, clock: new LeapingClock() })
  const client = as(simulator.apiKey)
  return {
    simulator,
    client,
    as,
    async rent(body = { image: 'ubuntu', disk: 10 }) {
      const [offer] = await client.offers.search({ order: [['dph_total', 'asc']], limit: 1 })
      if (!offer) throw new Error('There is no offer.')
      const made = await client.offers.createInstance(offer.id, body)
      return { id: made.new_contract, key: made.instance_api_key ?? '' }
    },
    async minutes(count) {
      await simulator.controls.advance(count * 60)
    },
    message() {
      const latest = simulator.controls.outbox().at(-1)
      if (!latest) throw new Error('Nothing was sent.')
      return latest
    },
  }
}

/** The expected error of the client: its code, its status and further fields. */
export function failure(code: string, status: number, more: object = {}): object {
  return { name: 'ServiceError', code, status, ...more }
}
