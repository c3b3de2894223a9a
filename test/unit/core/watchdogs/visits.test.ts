import { expect, test } from 'vitest'
import { openStoredWatchdogs, type StoredWatchdog } from '#core/watchdogs/record.ts'
import { WatchdogVisits } from '#core/watchdogs/visits.ts'
import type { WatchdogRequest } from '#shared/automation/watchdog.ts'
import type { InstanceState } from '#shared/instance/instance.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { account, accountContext, noting } from '#test/berth/account-context.ts'
import { accountView, instanceView } from '#test/unit/views.ts'

const now = 1_790_000_000
const soon = { action: 'destroy', at: now + 1200 } as const
const later = { ...soon, at: now + 20_000 }

test.each([
  ['is told once of one that can’t hear of its extension', 'putting', now + 4800, soon, 'still destroys it'],
  ['is told once of one that can’t be removed', 'removing', now + 1200, soon, 'still destroys it'],
  ['is told once of one that hears of an earlier end late', 'putting', now + 500, soon, 'destroys it only'],
  ['hears nothing where it is to act a little earlier', 'putting', now + 700, soon, undefined],
] as const)('a user %s', async (_, step, at, there, words) => {
  const { visit, said } = await unreachable({ step, at, there })
  await visit(0)
  await visit(10)
  expect(said).toEqual(words ? [expect.stringContaining(words)] : [])
})

test.each([
  ['isn’t there yet', 'putting', later.at, undefined, 'There’s no watchdog on'],
  ['still acts at some time', 'removing', later.at, later, 'still destroys it'],
] as const)(
  'a user is told once, after minutes without SSH, that one %s',
  async (_, step, at, there, words) => {
    const { visit, said } = await unreachable({ step, at, there })
    await visit(0)
    await visit(290)
    expect(said).toEqual([])
    await visit(310)
    await visit(900)
    expect(said).toEqual([expect.stringContaining(words)])
  },
)

test.each([
  ['running', 'It isn’t known whether the watchdog of'],
  ['loading', undefined],
] as const)(
  'a user hears that a rental’s own watchdog wasn’t seen for minutes while it’s %s',
  async (state, words) => {
    const { visit, said, shown } = await unreachable({ step: 'putting', at: later.at, there: later, state })
    await visit(0)
    await visit(290)
    expect(said).toEqual([])
    expect(shown()?.unseen).toBeUndefined()
    await visit(310)
    await visit(900)
    expect(said).toEqual(words ? [expect.stringContaining(words)] : [])
    expect(shown()?.unseen).toBe(words && true)
  },
)

test('a user hears at once of a machine on which no watchdog can work, though one came with it', async () => {
  const why = { code: 'no_http_tool', message: 'The instance has no curl.' }
  const { visit, said, bodies, stored } = await unreachable({
    step: 'putting',
    at: later.at,
    there: later,
    why,
  })
  await visit(0)
  await visit(60)
  expect(said).toEqual([expect.stringContaining('There’s no watchdog on')])
  expect(bodies).toEqual([expect.stringMatching(/^The instance has no curl\. So your limit acts only while/)])
  expect(stored.find(7)?.there).toBeUndefined()
})

test('a user is told what a rental’s own watchdog still does while the machine boots, at once where it destroys', async () => {
  const booting = (there: WatchdogRequest) =>
    unreachable({ step: 'removing', at: later.at, there, state: 'loading' })
  const destroying = await booting(later)
  await destroying.visit(0)
  expect(destroying.said).toEqual([expect.stringContaining('still destroys it')])
  const { visit, said } = await booting({ action: 'stop', at: later.at })
  await visit(0)
  await visit(290)
  expect(said).toEqual([])
  await visit(310)
  expect(said).toEqual([expect.stringContaining('still stops it')])
  const stopped = await unreachable({ step: 'removing', at: soon.at, there: soon, state: 'stopped' })
  await stopped.visit(0)
  expect(stopped.said).toEqual([])
})

/** An instance that SSH can't reach, with a watchdog that is to act at a moment, and goes by another one. */
async function unreachable({
  step,
  at,
  there,
  state = 'running',
  why = { code: 'ssh_unreachable', message: 'no route' },
}: Pick<StoredWatchdog, 'step' | 'there'> & { at: number; state?: InstanceState; why?: Problem }) {
  const { notifications, said, bodies } = noting()
  let passed = 0
  const context = accountContext({
    notifications,
    now: () => now + passed,
    client: () => ({}) as never,
    record: () => undefined,
    access: { connect: () => Promise.reject(new BerthError(why)) } as never,
  })
  const ssh = { direct: { host: '127.0.0.1', port: 22, hostKeys: [] } }
  context.store.change(draft => {
    draft.accounts[account] = accountView({}, instanceView({ id: 7, state, ssh: ssh as never }))
  })
  const stored = await openStoredWatchdogs(context)
  await stored.put({ instance: 7, request: { action: 'destroy', at }, there, step, foreign: false })
  const never = () => Promise.reject(new Error('not reached'))
  const visits = new WatchdogVisits(context, stored, never, never, never, () => false)
  return {
    said,
    bodies,
    stored,
    shown: () => context.store.get().accounts[account]?.watchdogs[7],
    /** A visit so many seconds after the first. */
    async visit(after: number) {
      passed = after
      if (state === 'running') await expect(visits.visit(7)).rejects.toThrow(why.message)
      else expect(await visits.visit(7)).toBeUndefined()
    },
  }
}
