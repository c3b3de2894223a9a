import fc from 'fast-check'
import { expect, test } from 'vitest'
import { limitActions } from '#core/limits/decide.ts'
import { limitAfterActing } from '#core/limits/transitions.ts'
import type { Uses } from '#core/limits/uses.ts'
import { instanceView } from '#test/unit/views.ts'
import { limitFacts, storedLimit } from './stored-limit.ts'

const start = 1_800_000_000
const between = 15
const seconds = 1200

/** When an idle limit acts on an instance without GPU load, by the seconds at which somebody typed; `isRead`: it can be told. */
function actsAt(typed: readonly number[], isRead = true, busyUntil = 0) {
  const instance = instanceView({ id: 7, state: 'running', gpuLoad: 0 })
  const account = { instances: { 7: instance }, spendPerHour: instance.costPerHour }
  let limit = storedLimit({ when: { kind: 'idle', below: 5, seconds }, setAt: start })
  for (let passed = 0; passed < 36_000; passed += between) {
    const at = start + passed
    const last = typed.filter(moment => moment <= passed).at(-1)
    const load = passed < busyUntil ? 97 : 0
    const use = {
      at,
      load,
      ...(last !== undefined && { last: { at: start + last, by: 'terminal' as const } }),
    }
    const uses: Uses = new Map(isRead ? [[7, use]] : [])
    const facts = limitFacts(at, account, { uses })
    const snapshot = {
      facts,
      fresh: true,
      sure: true,
      seenAt: at - between,
      gap: 600,
      acted: new Set<number>(),
    }
    for (const decision of limitActions(snapshot, [limit], at)) {
      limit = decision.limit
      if (decision.kind !== 'act') continue
      const done = limitAfterActing(limit, [{ instance: 7, action: 'stop' }], facts, at)
      return { passed, said: done.history.at(-1)?.text ?? '' }
    }
  }
  return undefined
}

test('an idle limit counts from when somebody last used the instance, and from nothing else', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 12 }), moments => {
      const typed = moments.toSorted((a, b) => a - b)
      // The first pause that is long enough.
      const all = [0, ...typed]
      const due =
        (all.find((moment, index) => (all[index + 1] ?? Infinity) - moment > seconds + between) ?? 0) +
        seconds
      const { passed = 0 } = actsAt(typed) ?? {}
      expect(passed).toBeGreaterThanOrEqual(seconds)
      // A pause between two polls may end it as well as not.
      const pauses = all.map((moment, index) => (all[index + 1] ?? Infinity) - moment)
      if (pauses.every(pause => Math.abs(pause - seconds) > 2 * between)) {
        expect(passed).toBeGreaterThanOrEqual(due)
        expect(passed).toBeLessThanOrEqual(due + 2 * between)
      }
    }),
  )
})

test('an instance that tells a load of its own is not idle, whatever the service says', () => {
  expect(actsAt([], true, 9000)?.passed).toBe(9000 + seconds)
})

test('it says that nobody was there, or that this is not known', () => {
  expect(actsAt([3000])?.said).toContain(
    'Nobody was at a terminal, no kernel was busy, and no page was open.',
  )
  expect(actsAt([3000], false)).toEqual({
    passed: seconds,
    said: expect.stringContaining('Whether somebody was logged in couldn’t be read there.'),
  })
})
