import { expect, test } from 'vitest'
import { destroy, start } from '#cli/act.ts'
import type { Call } from '#cli/call.ts'
import { cliRefusal } from '#cli/failure.ts'
import type { AccountView } from '#shared/state.ts'
import { accountView, instanceView, limitView } from '../views.ts'

/** What `berth start 7` says, on an account with these limits, where the start sets `again`. */
async function saidWith(limits: AccountView['limits'], again: AccountView['limits'] = {}) {
  const stopped = instanceView({ id: 7, state: 'stopped', costPerHour: 3000, pricePerHour: 400_000 })
  const account = accountView({ limits }, stopped)
  let state = { accounts: { [account.id]: account } }
  const said: string[] = []
  let out = ''
  const call = {
    operands: ['7'],
    connection: {
      state: async () => state,
      async command() {
        state = { accounts: { [account.id]: { ...account, limits: { ...limits, ...again } } } }
      },
    },
    write: (text: string) => {
      out += text
    },
    say: (line: string) => said.push(line),
  } as unknown as Call
  expect(await start.run(call)).toBeUndefined()
  expect(out).toBe('Started Instance #7\n')
  return said
}

test('start says which limit stops it at once, and that nothing would', async () => {
  const due = limitView({ when: { kind: 'budget', per: 'day', dollars: 5 }, dueAt: 1 })
  expect(await saidWith({ due })).toEqual([
    'Instance #7: Spending reached $5.00 today: its limit stops it at the next poll.',
  ])
  expect(await saidWith({})).toEqual(['Instance #7: It has no limit, so it runs until you stop it.'])
})

test('start says that the limit which had stopped it holds again, and until when', async () => {
  const done = limitView({ id: 'done', instance: 7, step: 'done' })
  const sentence = 'Stops Instance #7 when it has cost $18.00.'
  expect(await saidWith({ done }, { again: limitView({ id: 'again', instance: 7, sentence }) })).toEqual([
    `Instance #7: The limit that it had is set again. ${sentence}`,
  ])
})

test('destroy tries each instance whatever becomes of the others, names each failure, and exits with 1', async () => {
  const instances = Object.fromEntries([7, 8, 9].map(id => [id, instanceView({ id })]))
  const account = { ...accountView(), instances }
  const [said, asked]: [string[], number[]] = [[], []]
  let out = ''
  const call = {
    operands: ['6', '7', '8', '9'],
    yes: true,
    connection: {
      state: async () => ({ accounts: { [account.id]: account } }),
      async command(name: string, { instance }: { instance: number }) {
        if (name === 'refresh') return
        asked.push(instance)
        if (instance < 9) throw cliRefusal({ code: 'server_error', message: `#${instance} failed.` })
      },
    },
    write: (text: string) => {
      out += text
    },
    say: (line: string) => said.push(line),
  } as unknown as Call
  expect(await destroy.run(call)).toBe(1)
  expect(asked).toEqual([7, 8, 9])
  expect(out).toBe('Destroyed Instance #9\n')
  expect(said).toEqual([
    expect.stringMatching(/^6: No instance has the id or label 6\./),
    'Instance #7: #7 failed.',
    'Instance #8: #8 failed.',
  ])
})
