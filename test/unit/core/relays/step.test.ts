import { expect, test } from 'vitest'
import type { Relay, Told } from '#core/relays/record.ts'
import { relayMove, waitAfter } from '#core/relays/step.ts'
import { relayForm } from '#test/berth/relays.ts'

const now = 1_700_000_000_000
const minute = 60_000
const told = (ago: number, critical = true): Told => ({
  ...{ kind: 'hostGone', title: 'llama is gone', body: '', critical, at: now - ago },
})
const relay = (given: Partial<Relay> = {}): Relay => ({
  ...relayForm(),
  id: 'w0000000000000001',
  waiting: [],
  ...given,
})
const sending = (given: Partial<NonNullable<Relay['sending']>> = {}) =>
  relay({ sending: { id: 'm', alerts: [told(0)], tries: 1, triedAt: now, wait: 10_000, ...given } })
const quietHours = { on: true, from: '22:00', to: '07:00', critical: true }
const [night, day] = [23 * 60, 12 * 60]

test('alerts of five seconds become one message', () => {
  expect(relayMove(relay(), now, day)).toEqual({ do: 'rest' })
  expect(relayMove(relay({ waiting: [told(2000)] }), now, day)).toEqual({ do: 'wait', milliseconds: 3000 })
  const waiting = [told(5000), told(4000), told(0, false)]
  expect(relayMove(relay({ waiting }), now, day)).toEqual({ do: 'gather', alerts: waiting })
})

test('one message is sent at a time, and later alerts wait for the next', () => {
  const busy = { ...sending(), waiting: [told(9000)] }
  expect(relayMove(busy, now, day)).toEqual({ do: 'wait', milliseconds: 10_000 })
  expect(relayMove(busy, now + 10_000, day)).toEqual({ do: 'send' })
})

test('alerts wait for the end of quiet hours, but for critical ones if chosen', () => {
  const waiting = [told(9000, false), told(9000)]
  const quiet = relay({ waiting, quietHours })
  expect(relayMove(quiet, now, night)).toEqual({ do: 'gather', alerts: waiting.slice(1) })
  expect(relayMove(quiet, now, day)).toEqual({ do: 'gather', alerts: waiting })
  const silent = relay({ waiting, quietHours: { ...quietHours, critical: false } })
  expect(relayMove(silent, now, night)).toEqual({ do: 'wait', milliseconds: 30_000 })
})

test('a clock that is set neither holds a message back nor ends it', () => {
  const day24 = 24 * 60 * minute
  expect(relayMove(relay({ waiting: [told(-day24)] }), now, day)).toMatchObject({ do: 'gather' })
  expect(relayMove(sending(), now - day24, day)).toEqual({ do: 'send' })
  expect(relayMove(sending(), now + 365 * day24, day)).toEqual({ do: 'send' })
})

test('attempts are repeated with growing pauses for about a day', () => {
  let tries = 0
  let total = 0
  while (relayMove(sending({ tries, wait: 0 }), now, day).do === 'send') {
    tries += 1
    const wait = waitAfter(tries, {})
    expect(wait).toBeGreaterThanOrEqual(tries === 1 ? 0 : waitAfter(tries - 1, {}))
    total += wait
  }
  expect(relayMove(sending({ tries }), now, day)).toEqual({ do: 'giveUp' })
  expect(total / (60 * minute)).toBeGreaterThan(23)
  expect(total / (60 * minute)).toBeLessThan(27)
})

test('a receiver may ask for a longer pause, up to an hour, and one that refuses is asked once an hour', () => {
  expect(waitAfter(1, { asked: 45_000 })).toBe(45_000)
  expect(waitAfter(1, { asked: 1 })).toBe(10_000)
  expect(waitAfter(1, { asked: Number.POSITIVE_INFINITY })).toBe(60 * minute)
  expect(waitAfter(1, { refused: true })).toBe(60 * minute)
})
