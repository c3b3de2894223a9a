import fc from 'fast-check'
import { expect, test } from 'vitest'
import { freezesAfter, freezesIn, freezesVariable, Silence } from '#start/heartbeat/freeze.ts'

const every = 5_000

test('only ticks in time, without a sign of life between them, count as silence', () => {
  const tick = fc.record({ beats: fc.nat(3), passed: fc.integer({ min: every, max: 10 * every }) })
  fc.assert(
    fc.property(fc.array(tick, { maxLength: 60 }), ticks => {
      const silence = new Silence(every)
      let [now, beats, expected] = [0, 0, 0]
      silence.tick(beats, now)
      for (const one of ticks) {
        now += one.passed
        beats += one.beats
        // The computer slept, or the main thread gave a sign of life.
        expected = one.passed > 3 * every || one.beats > 0 ? 0 : expected + 1
        expect(silence.tick(beats, now)).toBe((expected * every) / 1000)
      }
    }),
  )
})

test('a freeze that returns restarts Berth three times an hour, however often it comes', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 60, max: 3600 }), { maxLength: 60 }), pauses => {
      let now = 1_790_000_000_000
      let told = ''
      const restarts: number[] = []
      for (const pause of pauses) {
        now += pause * 1000
        const next = freezesAfter(freezesIn({ [freezesVariable]: told }), now, 60)
        if (next === undefined) continue
        told = next
        restarts.push(now)
        expect(freezesIn({ [freezesVariable]: told }).at(-1)).toEqual({
          at: now,
          seconds: 60,
          restarted: true,
        })
      }
      for (const at of restarts)
        expect(restarts.filter(other => other > at - 3_600_000 && other <= at).length).toBeLessThanOrEqual(3)
      // And it does restart wherever fewer were in the hour before.
      expect(restarts.length).toBeGreaterThanOrEqual(Math.min(3, pauses.length))
    }),
  )
})

test('what another program left in the variable is no freeze', () => {
  for (const text of ['', 'x', '1/', '/1', '1', 'NaN/NaN'])
    expect(freezesIn({ [freezesVariable]: text })).toEqual([])
})
