import { expect, test } from 'vitest'
import { clockCheck } from '#cli/doctor.ts'

const hours = 3_600_000

test('the doctor says which clock is wrong, this computer’s or the service’s', () => {
  const checked = (clock: object) =>
    clockCheck({ demo: false, clock: { serverAt: 5 * hours, localAt: 5 * hours, rate: 1, ...clock } }).map(
      ({ name, ok, message }) => [name, ok, message],
    )
  const right = ['Clock', true, 'Matches the service’s clock.']
  expect(checked({})).toEqual([right])
  expect(checked({ localAt: 7 * hours })).toEqual([['Clock', false, '2 h ahead of the service’s clock.']])
  expect(checked({ strays: -7200 })).toEqual([
    ['Clock of the service', false, 'It’s 2 h behind the time that Berth goes by.'],
    right,
  ])
})
