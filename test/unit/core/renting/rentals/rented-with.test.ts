import { expect, test } from 'vitest'
import { type Rental, rentedWith } from '#core/renting/rentals/model.ts'

const rental: Rental = {
  id: 'r0123456789abcdef',
  account: 'a00000001',
  request: {
    offer: 1,
    image: 'pytorch/pytorch',
    access: 'ssh',
    disk: 20,
    env: [
      { name: 'RENTED_WITH', value: 'yes', secret: false },
      { name: 'HF_TOKEN', value: '', secret: true },
    ],
    ports: [],
  },
  offer: { id: 1 },
  step: 'running',
  before: [],
  asked: 1,
  startedAt: 0,
  deadline: 600,
}

test('an instance was rented with the variables that the service shows, and else with those of its rental', () => {
  expect(rentedWith(rental, {})).toEqual({ RENTED_WITH: 'yes' })
  const record = {
    extra_env: [['HF_TOKEN', 'hf_x'] as [string, string], ['-p 8080:8080', '1'] as [string, string]],
  }
  expect(rentedWith(rental, record)).toEqual({ RENTED_WITH: 'yes', HF_TOKEN: 'hf_x' })
  expect(rentedWith(undefined, undefined)).toEqual({})
})
