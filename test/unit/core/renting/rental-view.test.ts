import { expect, test } from 'vitest'
import { type Rental, rentedWith } from '#core/renting/rental.ts'
import { lastRental } from '#core/renting/rental-view.ts'
import { retrying, someRental, someTry } from './some-rental.ts'

test('the last rental is the last one that the user chose and got', () => {
  const when = { kind: 'duration' as const, seconds: 3600 }
  const request = { ...someRental().request, stops: [{ when, action: 'stop' as const, asleep: false }] }
  const named = (rental: Rental, id: string): Rental => ({
    ...rental,
    id,
    request: { ...request, label: id },
  })
  const chosen = named(someRental({ step: 'ready', instance: 4711 }), 'chosen')
  const others = [
    named({ ...chosen, why: 'run' }, 'project'),
    named(someRental({ tries: [someTry({ unwanted: true })] }), 'unwanted'),
    named(someRental({ step: 'failed', tries: [someTry({ instance: undefined })] }), 'failed'),
    named(retrying(someTry()), 'trying'),
  ]
  expect(lastRental([chosen, ...others])).toEqual({ id: 'chosen', what: 'chosen', stops: request.stops })
  expect(lastRental(others)).toBeUndefined()
  const tried = named({ ...retrying(someTry()), step: 'ready', instance: 4711 }, 'tried')
  expect(lastRental([chosen, tried])?.id).toBe('tried')
})

test('an instance was rented with the variables that the service shows, and else with those of its rental', () => {
  const { request } = someRental()
  const env = [
    { name: 'RENTED_WITH', value: 'yes', secret: false },
    { name: 'HF_TOKEN', value: '', secret: true },
  ]
  const rental = { request: { ...request, env } }
  expect(rentedWith(rental, {})).toEqual({ RENTED_WITH: 'yes' })
  const record = {
    extra_env: [['HF_TOKEN', 'hf_x'] as [string, string], ['-p 8080:8080', '1'] as [string, string]],
  }
  expect(rentedWith(rental, record)).toEqual({ RENTED_WITH: 'yes', HF_TOKEN: 'hf_x' })
  expect(rentedWith(undefined, undefined)).toEqual({})
})
