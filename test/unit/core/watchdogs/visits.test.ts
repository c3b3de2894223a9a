import { expect, test } from 'vitest'
import { openStoredWatchdogs } from '#core/watchdogs/record.ts'
import { WatchdogVisits } from '#core/watchdogs/visits.ts'
import { account, accountContext, noting } from '#test/berth/account-context.ts'
import { accountView, instanceView } from '#test/unit/views.ts'

const now = 1_790_000_000
const there = { action: 'destroy', at: now + 1200 } as const

test.each([
  ['is told once of one that can’t hear of its extension', 'putting', now + 4800, 1],
  ['is told once of one that can’t be removed', 'removing', now + 1200, 1],
  ['is told once of one that can’t hear that it is to act much earlier', 'putting', now + 500, 1],
  ['hears nothing where it is to act a little earlier', 'putting', now + 700, 0],
] as const)('a user %s', async (_, step, at, told) => {
  const { notifications, said } = noting()
  const context = accountContext({
    notifications,
    now: () => now,
    client: () => ({}) as never,
    record: () => undefined,
    access: { connect: () => Promise.reject(new Error('no route')) } as never,
  })
  const ssh = { direct: { host: '127.0.0.1', port: 22, hostKeys: [] } }
  context.store.change(draft => {
    draft.accounts[account] = accountView({}, instanceView({ id: 7, ssh: ssh as never }))
  })
  const stored = await openStoredWatchdogs(context)
  await stored.put({ instance: 7, request: { action: 'destroy', at }, there, step, foreign: false })
  const never = () => Promise.reject(new Error('not reached'))
  const visits = new WatchdogVisits(context, stored, never, never, never)
  for (const _ of [1, 2]) await expect(visits.visit(7)).rejects.toThrow('no route')
  const words = at < there.at ? 'destroys it only' : 'still destroys it'
  expect(said.filter(title => title.includes(words))).toHaveLength(told)
})
