import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Accrual, accrueSpending } from '../../../../electron/core/money/accrual.ts'
import { type Absence, type Course, cheapened, courses, type Kind, lived, plans } from './absences.ts'

const dollar = 1_000_000
const hour = 3600
/** Usual top-ups in dollars, by frequency. */
const usual = fc.constantFrom(
  5,
  10,
  10,
  15,
  20,
  20,
  25,
  25,
  25,
  30,
  35,
  40,
  50,
  50,
  50,
  75,
  100,
  100,
  200,
  500,
)
const nothing = fc.constant(0)
const steady: readonly (readonly [Course, number])[] = [
  ['same', 3],
  ['halted', 1],
]
/** The same cases each time. */
const same = { seed: 20_261_121, numRuns: 2000 }

function counted({ before, after }: Absence): Accrual {
  return accrueSpending(accrueSpending(undefined, before).counted, after)
}

const without = (...left: readonly Course[]) => courses.filter(([course]) => !left.includes(course))

test('without a top-up the sum is exact, whatever changes during the absence', () => {
  const kind: Kind = { seconds: [10, 10 * hour], courses: without('paused'), paid: nothing }
  fc.assert(
    fc.property(plans(kind), plan => {
      const absence = lived(plan)
      const { spent, toppedUp, estimated } = counted(absence)
      expect([spent, toppedUp]).toEqual([absence.spent, 0])
      // With more open, five dollars may have been paid in and spent on what changed.
      if (absence.open < 4.5 * dollar) expect(estimated).toBe(false)
    }),
    same,
  )
})

test('between close polls any odd top-up is found to the cent', () => {
  const odd = fc.integer({ min: 100, max: 30_000 }).map(cents => cents / 100)
  const kind: Kind = { seconds: [10, 590], courses: steady, dearest: 0.6, most: 5, paid: odd }
  fc.assert(
    fc.property(plans(kind), plan => {
      const absence = lived(plan)
      expect(counted(absence)).toMatchObject({ toppedUp: absence.paid, estimated: false })
    }),
    same,
  )
})

test('after an absence with under $2.50 open, a top-up in multiples of $5 is found', () => {
  const paid = fc.integer({ min: 1, max: 60 }).map(count => count * 5)
  const kind: Kind = { seconds: [603, 10 * hour], courses: without('came and went', 'unseen run'), paid }
  let coincidences = 0
  fc.assert(
    fc.property(plans(kind), plan => {
      const absence = lived(cheapened(plan, 2.49 * dollar))
      const { toppedUp } = counted(absence)
      if (toppedUp === absence.paid) return
      // In 4 of 10,000 the unseen part comes to whole dollars, and another sum fits to the cent.
      expect(toppedUp % dollar).toBe(0)
      expect(Math.abs(toppedUp - absence.paid)).toBeLessThan(2.5 * dollar)
      coincidences += 1
    }),
    same,
  )
  expect(coincidences).toBeLessThan(5)
})

test.for([
  ['an hour or less, a few cheap machines', { seconds: [603, hour], dearest: 0.6, most: 3 }, 1, 0.999],
  ['an hour or less, a small fleet', { seconds: [603, hour] }, 0.999, 0.985],
  ['up to four hours, a small fleet', { seconds: [hour, 4 * hour] }, 0.99, 0.9],
  ['a night, a few cheap machines', { seconds: [4 * hour, 10 * hour], dearest: 0.6, most: 3 }, 0.999, 0.98],
  ['a night, a small fleet', { seconds: [4 * hour, 10 * hour] }, 0.98, 0.72],
] as const)('top-ups are found often enough: %s', ([, kind, withoutAny, withOne]) => {
  const right = (paid: fc.Arbitrary<number>) => {
    const all = fc.sample(plans({ ...kind, paid }), same).map(lived)
    return all.filter(absence => counted(absence).toppedUp === absence.paid).length / all.length
  }
  expect(right(nothing)).toBeGreaterThanOrEqual(withoutAny)
  expect(right(usual)).toBeGreaterThanOrEqual(withOne)
})

test('a wrong top-up is always marked estimated, if the prices show what happened', () => {
  const seen = without('paused', 'came and went', 'unseen run')
  const kind: Kind = { seconds: [603, 10 * hour], courses: seen, paid: fc.oneof(usual, nothing) }
  let wrong = 0
  fc.assert(
    fc.property(plans(kind), plan => {
      const absence = lived(plan)
      const { toppedUp, estimated } = counted(absence)
      if (toppedUp === absence.paid) return
      wrong += 1
      expect(estimated).toBe(true)
    }),
    same,
  )
  expect(wrong).toBeGreaterThan(50)
})

test('an instance that ran throughout gets its full price even with a wrong top-up', () => {
  const seen = without('paused', 'came and went', 'unseen run')
  let wrong = 0
  fc.assert(
    fc.property(plans({ seconds: [hour, 10 * hour], courses: seen, paid: usual }), plan => {
      const absence = lived(plan)
      const { toppedUp, shares } = counted(absence)
      // Where the credit hardly fell, a clock may have jumped.
      const fell = absence.spent - absence.paid
      if (toppedUp === absence.paid || (fell >= 0 && fell <= dollar / 2)) return
      wrong += 1
      plan.machines.forEach(({ course, gpu }, index) => {
        if (course !== 'same') return
        const off = (shares.get(String(index + 1)) ?? 0) - (absence.shares[index + 1] ?? 0)
        // Each poll is at most a second and a half wrong about the time.
        expect(Math.abs(off)).toBeLessThan(((gpu + 0.03) * dollar * 4) / hour + 10)
      })
    }),
    same,
  )
  expect(wrong).toBeGreaterThan(100)
})

test('most wrong top-ups are marked estimated, whatever happened unseen', () => {
  const all = fc.sample(plans({ seconds: [603, 10 * hour], paid: usual }), same).map(lived)
  const wrong = all
    .map(absence => ({ ...counted(absence), paid: absence.paid }))
    .filter(({ toppedUp, paid }) => toppedUp !== paid)
  expect(wrong.length).toBeGreaterThan(50)
  expect(wrong.filter(({ estimated }) => estimated).length / wrong.length).toBeGreaterThan(0.85)
})

test('shares are never negative and, within tolerance, at most the spending in all', () => {
  fc.assert(
    fc.property(plans({ seconds: [10, 10 * hour], paid: usual }), plan => {
      const { shares, spent } = counted(lived(plan))
      const all = [...shares.values()]
      expect(Math.min(0, ...all)).toBe(0)
      // Between close polls half a dollar; after an absence the error of two clocks at $30 an hour.
      const beyond = all.reduce((sum, share) => sum + share, 0) - spent
      expect(beyond).toBeLessThanOrEqual(plan.seconds < 600 ? dollar / 2 : dollar / 30)
    }),
    same,
  )
})
