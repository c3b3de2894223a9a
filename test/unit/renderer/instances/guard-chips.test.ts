import { expect, test } from 'vitest'
import type { GuardView } from '#contract/automation/guard.ts'
import { timeOfDay } from '#contract/format/time.ts'
import {
  countingGuards,
  guardChip,
  nextWords,
  wantsAnswer,
} from '#renderer/screens/instances/guards/guardChips.ts'
import { instanceView } from '#test/unit/views.ts'

const now = 1_790_000_000
const hour = 3600
const box = instanceView({
  id: 7,
  startedAt: now - 2 * hour,
  spent: { micros: 7_020_000, at: now, perHour: 2_528_000 },
})

function guard(given: Partial<GuardView>): GuardView {
  return {
    id: 'g1',
    instance: 7,
    condition: { kind: 'time', at: now + 2 * hour },
    action: 'stop',
    warning: 900,
    missed: 'act',
    sentence: '',
    step: 'waiting',
    dueAt: now + 2 * hour,
    history: [],
    ...given,
  }
}

test('a chip shows the used share and what is left', () => {
  const clock = timeOfDay(now + 2 * hour)
  expect(guardChip(guard({}), box, now)).toEqual({
    guard: 'g1',
    share: 0.5,
    before: 'until ',
    strong: clock,
    after: '',
    left: '2 h',
    soon: false,
  })
  const cost = guard({ condition: { kind: 'cost', limit: 9_000_000 }, dueAt: now + 47 * 60 })
  expect(guardChip(cost, box, now)).toMatchObject({
    share: 0.78,
    strong: '$7.02',
    after: ' of $9.00',
    left: '47 min',
  })
  const idle = guard({ condition: { kind: 'idle', below: 5, seconds: 1800 }, dueAt: now + 28 * 60 })
  expect(guardChip(idle, box, now)).toMatchObject({
    before: 'idle, ',
    strong: '28 min',
    after: ' left',
    soon: true,
  })
  expect(guardChip(idle, box, now)?.share).toBeCloseTo(2 / 30)
  expect(guardChip(guard({ dueAt: now - 5 }), box, now)?.share).toBe(1)
})

test('a guard’s chip stands out in its last half hour, with an answer beside it', () => {
  const at = (left: number) => guard({ dueAt: now + left })
  expect(guardChip(at(1801), box, now)?.soon).toBe(false)
  expect(guardChip(at(1800), box, now)?.soon).toBe(true)
  expect(wantsAnswer(at(1801), now)).toBe(false)
  expect(wantsAnswer(at(1800), now)).toBe(true)
})

test('a guard that does not count or has nothing to stop has no chip', () => {
  const { dueAt: _, ...uncounted } = guard({})
  const later = guard({ id: 'g2', dueAt: now + 9 * hour })
  expect(
    countingGuards([later, guard({}), uncounted, guard({ instance: 8 }), guard({ step: 'done' })], box),
  ).toEqual([guard({}), later])
  const stopped = { ...box, state: 'stopped' } as const
  expect(countingGuards([guard({})], stopped)).toEqual([])
  expect(countingGuards([guard({ action: 'destroy' })], stopped)).toHaveLength(1)
})

test('the next action is given with its time and reason', () => {
  const at = timeOfDay(now + 2 * hour)
  expect(nextWords(guard({ condition: { kind: 'cost', limit: 9_000_000 } }), now)).toBe(
    `Next: stops at ${at}, when it has cost $9.00.`,
  )
  expect(nextWords(guard({ condition: { kind: 'idle', below: 5, seconds: 3 * hour } }), now)).toBe(
    `Idle since ${timeOfDay(now - hour)}: stops at ${at}.`,
  )
  const kept = guard({
    condition: { kind: 'idle', below: 5, seconds: 3 * hour },
    snoozedUntil: now + 2 * hour,
  })
  expect(nextWords(kept, now)).toBe(`Kept running until ${at}: stops then if it is still idle.`)
  expect(guardChip(kept, box, now)).toMatchObject({ before: 'kept on, ', strong: '2 h', share: 0 })
  // It worked meanwhile, and is idle again when the snooze ends, for too short a time.
  expect(nextWords({ ...kept, snoozedUntil: now + hour }, now)).toBe(
    `Idle since ${timeOfDay(now - hour)}: stops at ${at}.`,
  )
  expect(nextWords(guard({ action: 'destroy' }), now)).toBe(`Next: destroys it at ${at}.`)
  expect(nextWords(guard({ step: 'acting' }), now)).toBe('Stopping it now.')
})
