import { expect, test } from 'vitest'
import { waitsJson } from '#cli/ps.ts'
import { accountView, byId, projectRunView, rentalView } from '../views.ts'

test('a run names the machine that is rented for it before it has it, and no other', () => {
  const waiting = { for: 'ssh', since: 100, givesUpAt: 700 } as const
  const run = projectRunView({ step: 'waiting', rental: 'r0000000000000001', waiting })
  const rentals = (step: 'entering' | 'failed') => byId([rentalView({ step, instance: 4711 })])
  const [shown] = waitsJson(accountView({ runs: byId([run]), rentals: rentals('entering') }))
  expect(shown).toMatchObject({ instance: 4711, for: 'ssh', givesUp: '1970-01-01T00:11:40.000Z' })
  const [kept] = waitsJson(accountView({ runs: byId([run]), rentals: rentals('failed') }))
  expect(kept?.instance).toBeNull()
})
