import { expect, test } from 'vitest'
import type { Rental } from '#core/renting/rentals/model.ts'
import { lastRental } from '#core/renting/rentals/view.ts'

const rental = (id: string, more: Partial<Rental> = {}): Rental => ({
  id,
  account: 'a00000001',
  request: {
    offer: 7,
    image: 'pytorch/pytorch',
    access: 'ssh',
    disk: 20,
    env: [],
    ports: [],
    label: id,
    stops: [{ when: { kind: 'duration', seconds: 3600 }, action: 'stop', asleep: false }],
  },
  offer: { id: 7 },
  step: 'running',
  before: [],
  asked: 1,
  instance: 4711,
  startedAt: 1000,
  deadline: 600,
  ...more,
})

test('the last rental is the last one that the user chose and got', () => {
  const chosen = rental('chosen')
  const others = [
    rental('project', { owner: 'f00000001' }),
    rental('unwanted', { unwanted: true }),
    rental('failed', { step: 'failed', instance: undefined }),
  ]
  expect(lastRental([chosen, ...others])).toEqual({
    id: 'chosen',
    what: 'chosen',
    stops: chosen.request.stops,
  })
  expect(lastRental(others)).toBeUndefined()
})
