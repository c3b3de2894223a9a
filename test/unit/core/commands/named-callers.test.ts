import { expect, test } from 'vitest'
import type { CommandName } from '#contract/commands.ts'
import { gateNamedCallers } from '#core/commands/named-callers.ts'
import type { Services } from '#core/commands/services.ts'
import type { BerthError, Problem } from '#shared/problem.ts'
import { newSpender, type Spender, type SpenderKind } from '#shared/spending/spender.ts'
import { HandClock } from '#test/berth/clocks.ts'

const [own, borrowed, yours] = [1, 2, 3]

/** The gate before a dispatcher that only notes: 1 is its own, 2 is one that it started, 3 is the user's. */
function gate(kind: SpenderKind) {
  const passed: unknown[] = []
  const by: Spender = `${kind}:robot`
  const ledger = {
    owns: (who: Spender, instance: number) => who === by && instance === own,
    payer: (instance: number) => (instance === yours ? undefined : by),
    refusal: () => undefined,
  }
  const parts = {
    store: { get: () => ({ settings: { spenders: [{ ...newSpender, kind, name: 'robot' }] } }) },
    accounts: { session: () => ({ id: 'a', automations: { ledger } }) },
    activity: { add: () => undefined },
    platform: { clock: new HandClock() },
  } as unknown as Services
  const send = gateNamedCallers(parts, async name => void passed.push(name))
  return async (name: CommandName, args: object): Promise<Problem | undefined> => {
    const before = passed.length
    const problem = await send(name, args, { by }).then(
      () => undefined,
      (error: BerthError) => error.problem,
    )
    expect(passed.length - before, name).toBe(problem ? 0 : 1)
    return problem
  }
}

const limit = (action: 'stop' | 'destroy', more: object) => ({
  when: { kind: 'duration', seconds: 3600 },
  action,
  warning: 300,
  missed: 'act',
  ...more,
})

test('a script sets limits that end its own machines sooner, and changes none; an agent sets none', async () => {
  const send = gate('script')
  expect(await send('setLimit', limit('destroy', { instance: own }))).toBeUndefined()
  expect(await send('setLimit', limit('stop', { instance: borrowed }))).toBeUndefined()
  for (const refused of [
    limit('destroy', { instance: borrowed }),
    limit('stop', { instance: yours }),
    limit('stop', { instance: own, limit: 'g0123456789abcdef' }),
    limit('stop', {}),
  ])
    expect((await send('setLimit', refused))?.refusal?.limit, JSON.stringify(refused)).toBe('ownership')
  for (const caller of [send, gate('agent')])
    for (const name of ['removeLimit', 'switchLimit', 'snoozeLimit'] as const)
      expect(await caller(name, { limit: 'g0123456789abcdef', on: false, minutes: null })).toMatchObject({
        refusal: { limit: 'permission', retry: 'never' },
        advice: 'Only you may do it, without a name.',
      })
  const asked = await gate('agent')('setLimit', limit('destroy', { instance: own }))
  expect(asked?.refusal?.limit).toBe('permission')
})

test('a script prepays only what it rented, and an agent nothing', async () => {
  const script = gate('script')
  expect(await script('prepayInstance', { instance: own, amount: 5 })).toBeUndefined()
  for (const instance of [borrowed, yours])
    expect((await script('prepayInstance', { instance, amount: 5 }))?.refusal?.limit).toBe('ownership')
  const refused = await gate('agent')('prepayInstance', { instance: own, amount: 5 })
  expect(refused?.refusal?.limit).toBe('permission')
})

test('a script reports its own machine and lists variables, which nobody but you changes; an agent does neither', async () => {
  const report = { problem: 'Other', message: '' }
  const script = gate('script')
  expect(await script('reportMachine', { instance: own, report })).toBeUndefined()
  expect((await script('reportMachine', { instance: yours, report }))?.refusal?.limit).toBe('ownership')
  expect(await script('listVariables', {})).toBeUndefined()
  const agent = gate('agent')
  for (const send of [script, agent])
    for (const name of ['addVariable', 'changeVariable', 'deleteVariable'] as const)
      expect((await send(name, { name: 'A', value: 'b' }))?.refusal?.limit, name).toBe('permission')
  expect((await agent('reportMachine', { instance: own, report }))?.refusal?.limit).toBe('permission')
  expect((await agent('listVariables', {}))?.refusal?.limit).toBe('permission')
})
