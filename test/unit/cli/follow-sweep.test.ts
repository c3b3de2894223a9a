import { expect, test } from 'vitest'
import type { Call } from '#cli/call.ts'
import { followSweep } from '#cli/follow.ts'
import type { SweepView } from '#shared/automation/sweep.ts'
import { accountView } from '../views.ts'

test('the end of a sweep is one line of JSON, with its cost as of another poll', async () => {
  const sweep = {
    id: 's1',
    step: 'over',
    settings: [],
    attempts: [],
    results: '~/r',
    cost: { micros: 0, at: 0, perHour: 0 },
  }
  const account = accountView({ sweeps: { s1: sweep as unknown as SweepView } })
  let out = ''
  const connection = {
    state: async () => ({ accounts: { [account.id]: account } }),
    async command(name: string) {
      if (name === 'refresh') sweep.cost.micros = 620
    },
  }
  const write = (text: string) => {
    out += text
  }
  await followSweep({ connection, json: true, write } as unknown as Call, account.id, 's1')
  expect(out.split('\n')).toHaveLength(2)
  expect(JSON.parse(out)).toMatchObject({ sweep: 's1', step: 'over', cost: 0.000_62 })
})
