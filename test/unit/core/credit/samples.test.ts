import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type KeptSample, withSample } from '../../../../electron/core/credit/samples.ts'

const start = 1_800_000_000

/** The samples after one every `seconds`, `times` times. */
function watched(seconds: number, times: number): readonly KeptSample[] {
  let kept: readonly KeptSample[] = []
  for (let at = 0; at < times; at += 1) kept = withSample(kept, start + at * seconds, at)
  return kept
}

test('there is one sample for every five minutes, however often the account is looked at', () => {
  expect(watched(10, 180)).toHaveLength(6)
})

test('too soon for a sample, nothing changes at all', () => {
  const kept = watched(300, 3)
  expect(withSample(kept, start + 601, 9)).toBe(kept)
})

test('two days are kept every five minutes, what is older every hour, and nothing over sixty days', () => {
  const kept = watched(300, (90 * 86_400) / 300)
  const now = kept.at(-1)?.[0] ?? 0
  const age = (sample: KeptSample) => now - sample[0]
  expect(kept.filter(sample => age(sample) <= 2 * 86_400)).toHaveLength(577)
  expect(Math.max(...kept.map(age))).toBeLessThanOrEqual(60 * 86_400)
  const hours = kept.filter(sample => age(sample) > 2 * 86_400).map(([at]) => Math.floor(at / 3600))
  expect(new Set(hours).size).toBe(hours.length)
  expect(kept.length).toBeLessThan(2100)
})

test('whatever the clock does, samples stay in order', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: start, max: start + 200 * 86_400 }), { maxLength: 60 }), times => {
      let kept: readonly KeptSample[] = []
      for (const at of times) kept = withSample(kept, at, 1)
      const ats = kept.map(([at]) => at)
      expect(ats).toEqual([...ats].sort((a, b) => a - b))
    }),
  )
})
