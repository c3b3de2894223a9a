import { expect, test } from 'vitest'
import type { Call } from '#cli/call.ts'
import { limit } from '#cli/limit.ts'
import { waitsJson } from '#cli/ps.ts'
import { accountView, byId, instanceView, projectRunView, rentalView } from '../views.ts'

test('a run names the machine that is rented for it before it has it, and no other', () => {
  const waiting = { for: 'ssh', since: 100, givesUpAt: 700 } as const
  const run = projectRunView({ step: 'waiting', rental: 'r0000000000000001', waiting })
  const rentals = (step: 'entering' | 'failed') => byId([rentalView({ step, instance: 4711 })])
  const [shown] = waitsJson(accountView({ runs: byId([run]), rentals: rentals('entering') }))
  expect(shown).toMatchObject({ instance: 4711, for: 'ssh', givesUp: '1970-01-01T00:11:40.000Z' })
  const [kept] = waitsJson(accountView({ runs: byId([run]), rentals: rentals('failed') }))
  expect(kept?.instance).toBeNull()
})

test('a removed limit’s watchdog that is told a moment later is no news', async () => {
  const there = { action: 'destroy', at: Date.now() / 1000 + 9000 } as const
  const removing = { instance: 7, request: there, there, step: 'removing', foreign: false } as const
  const before = accountView({ watchdogs: { 7: removing } }, instanceView({ id: 7 }))
  let account = before
  const said: string[] = []
  const connection = {
    state: async () => ({ accounts: { [before.id]: account }, shown: before.id }),
    command: async () => undefined,
    async change() {
      account = { ...before, watchdogs: {} }
    },
  }
  const say = (line: string) => void said.push(line)
  await limit.run({ operands: ['7', 'rm', 'g1'], connection, given: {}, say } as unknown as Call)
  expect(said).toEqual([expect.stringMatching(/has no limit\.$/)])
})
