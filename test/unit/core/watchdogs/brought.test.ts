import { expect, test } from 'vitest'
import { openStoredLimits } from '#core/limits/model.ts'
import { Watchdogs } from '#core/watchdogs/perform.ts'
import { openStoredWatchdogs } from '#core/watchdogs/record.ts'
import { accountContext, freshAnswer, noting } from '#test/berth/account-context.ts'
import { storedLimit } from '../limits/stored-limit.ts'

test.each([
  [3600, ['Instance #7 was probably destroyed by its watchdog']],
  [1800, []],
])(
  'a machine that is gone %s s after it was asked for was ended by what came with it: %j',
  async (at, told) => {
    const said = noting()
    const context = accountContext({ ...said, now: () => 0 })
    const stored = await openStoredWatchdogs(context)
    const limits = await openStoredLimits(context)
    await limits.put(
      storedLimit({ instance: 7, when: { kind: 'time', at: 3600 }, action: 'destroy', asleep: true }),
    )
    const never = () => Promise.reject(new Error('not reached'))
    const watchdogs = new Watchdogs(context, stored, limits, never, never, never, () => false)
    // Nothing has shown the machine before this computer slept.
    await watchdogs.brought(7, { action: 'destroy', at: 3600 })
    for (let poll = 0; poll < 2; poll += 1) watchdogs.onPoll(freshAnswer(context, {}, [], at))
    expect(said.said).toEqual(told)
  },
)

test('a start script says nothing against a visit that found that none can work there', async () => {
  const context = accountContext({ ...noting(), now: () => 0 })
  const stored = await openStoredWatchdogs(context)
  const limits = await openStoredLimits(context)
  const never = () => Promise.reject(new Error('not reached'))
  const watchdogs = new Watchdogs(context, stored, limits, never, never, never, () => true)
  const request = { action: 'destroy', at: 3600 } as const
  const found = { instance: 7, request, step: 'putting', foreign: false } as const
  await stored.put({ ...found, told: 'absent' })
  await watchdogs.brought(7, request)
  expect(stored.find(7)?.there).toBeUndefined()
  await stored.put(found)
  await watchdogs.brought(7, request)
  expect(stored.find(7)?.there).toEqual(request)
})
