import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { InstanceView } from '../../../../../electron/contract/instance/instance.ts'
import type { Recovery } from '../../../../../electron/core/renting/recovery/model.ts'
import { openRecoveries, type Recoveries } from '../../../../../electron/core/renting/recovery/service.ts'
import type { Files } from '../../../../../electron/ports/files.ts'
import type { ServiceClient } from '../../../../../electron/service/client.ts'
import { ServiceError } from '../../../../../electron/service/service-error.ts'
import { instanceView } from '../../../views.ts'
import { account, accountContext, freshAnswer } from '../../account-context.ts'
import { flushPromises, HandClock } from '../../hand-clock.ts'
import { MemoryFiles } from '../../memory-files.ts'

/** Generated histories; BERTH_HISTORIES asks for more. */
const histories = Number(process.env['BERTH_HISTORIES'] ?? 600)
const every = 600
const firstBid = 100_000

type Event =
  | { do: 'poll' | 'kill' | 'lost' | 'unanswered' }
  | { do: 'pass'; seconds: number }
  | { do: 'set the clock back'; seconds: number }
  /** Micro-dollars per hour: the lowest bid that runs, and a bid by the user. */
  | { do: 'lowest'; bid: number }
  | { do: 'by hand'; bid: number }

const bid = fc.integer({ min: 20, max: 900 }).map(thousands => thousands * 1000)
const ceilings = fc.integer({ min: 100, max: 2000 }).map(thousands => thousands * 1000)
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Event>({ do: 'poll' }) },
  { weight: 1, arbitrary: fc.constantFrom<Event>({ do: 'kill' }, { do: 'lost' }, { do: 'unanswered' }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 900 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('set the clock back' as const),
      seconds: fc.integer({ min: 1, max: 5000 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('lowest' as const), bid }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('by hand' as const), bid }) },
)

/** One instance, and all raises that took effect on it. */
class Market {
  bid = firstBid
  lowest = 90_000
  readonly raises: { bid: number; lowest: number; at: number }[] = []
  readonly faults: ('lost' | 'unanswered')[] = []

  view(): InstanceView {
    const outbid = this.lowest > this.bid
    return instanceView({
      state: outbid ? 'outbid' : 'running',
      intendedStatus: 'running',
      interruptible: true,
      bid: this.bid,
      minimumBid: this.lowest,
      pricePerHour: this.bid + 3000,
      costPerHour: outbid ? 3000 : this.bid + 3000,
    })
  }
}

/** The recovery as it is on disk. */
function onDisk(files: MemoryFiles): Recovery | undefined {
  const kept: Recovery[] = JSON.parse(files.texts.get(`accounts/${account}/recoveries.json`) ?? '[]')
  return kept.find(({ instance }) => instance === 4711)
}

async function live(ceiling: number, events: readonly Event[]) {
  const clock = new HandClock()
  const files = new MemoryFiles()
  const market = new Market()
  /** The cost that raises added, summed at each poll: micro-dollars, and the rate per hour since the last poll. */
  const added = { micros: 0, perHour: 0, at: 0 }
  let jump = 0
  const now = () => clock.monotonic() / 1000 + jump
  let wrong = ''

  async function start(): Promise<{
    recoveries: Recoveries
    poll(): void
    kill(): void
    at(): Recovery | undefined
  }> {
    const ending = new AbortController()
    const { signal } = ending
    const mine: Files = {
      path: name => files.path(name),
      read: name => files.read(name),
      write: (name, text) => (signal.aborted ? new Promise(() => undefined) : files.write(name, text)),
      append: (name, content) => files.append(name, content),
      readPart: (name, from, most) => files.readPart(name, from, most),
      list: folder => files.list(folder),
      delete: name => files.delete(name),
    }
    const client = {
      instances: {
        async changeBid(_: number, price: number) {
          if (signal.aborted) await new Promise(() => undefined)
          const fault = market.faults.shift()
          const raised = Math.round(price * 1_000_000)
          if (raised > ceiling) wrong = `bid ${raised} above ${ceiling}`
          if (fault !== 'unanswered' && raised !== market.bid) {
            market.raises.push({ bid: raised, lowest: market.lowest, at: now() })
            market.bid = raised
          }
          await Promise.resolve()
          if (signal.aborted) await new Promise(() => undefined)
          if (fault)
            throw new ServiceError({
              code: 'connection_lost',
              status: 0,
              message: '',
              advice: '',
              ambiguous: true,
            })
        },
      },
    }
    const context = accountContext({
      clock,
      files: mine,
      client: () => client as unknown as ServiceClient,
      ending: signal,
      now,
    })
    const rentals = { ofInstance: () => undefined, knows: () => false }
    const recoveries = await openRecoveries(context, rentals, {
      start: async () => '',
      cancel: async () => undefined,
      find: () => undefined,
      written: async () => undefined,
    })
    return {
      poll: () => recoveries.onPoll(freshAnswer(context, { 4711: market.view() }, [], now())),
      recoveries,
      kill: () => ending.abort(),
      at: () => onDisk(files),
    }
  }

  let berth = await start()
  await berth.recoveries.choose(market.view(), { kind: 'raise', ceiling: ceiling / 1_000_000, every })
  const poll = async () => {
    const runs = market.bid >= market.lowest && market.bid === market.raises.at(-1)?.bid
    added.micros += Math.max(0, ((now() - added.at) * added.perHour) / 3600)
    Object.assign(added, { perHour: runs ? market.bid - firstBid : 0, at: now() })
    berth.poll()
    await flushPromises()
  }
  for (const each of events) {
    if (each.do === 'poll') await poll()
    else if (each.do === 'pass') await clock.pass(each.seconds * 1000)
    else if (each.do === 'set the clock back') jump -= each.seconds
    else if (each.do === 'lowest') market.lowest = each.bid
    else if (each.do === 'by hand') {
      // The user bids on a current view: no answer is pending.
      market.faults.length = 0
      await poll()
      await poll()
      market.bid = each.bid
    } else if (each.do === 'kill') {
      berth.kill()
      berth = await start()
    } else market.faults.push(each.do)
  }
  market.faults.length = 0
  for (let round = 0; round < 4; round += 1) {
    await clock.pass(every * 1000)
    await poll()
  }
  return { market, end: berth.at(), wrong, added: added.micros, endAt: added.at }
}

test(`${histories} histories of rivals, faults, kills and clocks raise the bid as the plain model says`, {
  timeout: 600_000,
}, async () => {
  let raised = 0
  await fc.assert(
    fc.asyncProperty(ceilings, fc.array(event, { minLength: 5, maxLength: 30 }), async (ceiling, events) => {
      const { market, end, endAt, wrong, added } = await live(ceiling, events)
      expect(wrong).toBe('')
      // In the end it runs if the ceiling allows that, and each raise was just above the bid to beat.
      expect(market.bid >= market.lowest).toBe(ceiling > market.lowest || market.bid >= market.lowest)
      for (const { bid: raise, lowest } of market.raises) expect(raise).toBeLessThanOrEqual(lowest + 10_000)
      if (!events.some(each => each.do === 'set the clock back'))
        for (const [at, raise] of market.raises.entries()) {
          const before = market.raises[at - 1]
          if (before) expect(raise.at - before.at).toBeGreaterThanOrEqual(every)
        }
      // Every raise that took effect is counted once, whether its answer came or not.
      expect(end?.raises).toBe(market.raises.length)
      if (market.raises.length > 0) expect(end?.own).toBe(market.raises.at(-1)?.bid)
      const plain = !events.some(({ do: what }) => what === 'set the clock back' || what === 'by hand')
      if (plain) {
        const { micros, perHour } = end?.added ?? { micros: 0, perHour: 0 }
        const open = perHour === 0 ? 0 : (end?.added.at ?? 0)
        // Each stretch is cut to whole micro-dollars.
        const sofar = micros + (perHour === 0 ? 0 : ((endAt - open) * perHour) / 3600)
        expect(Math.abs(sofar - added)).toBeLessThan(40)
      }
      raised += market.raises.length
    }),
    { numRuns: histories },
  )
  expect(raised).toBeGreaterThan(histories / 2)
})
