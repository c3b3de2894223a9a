import { expect, test } from 'vitest'
import { hostFailure, openFailedMachines } from '#core/renting/failed-machines.ts'
import type { InstanceState, InstanceView } from '#shared/instance/instance.ts'
import { accountContext } from '#test/berth/account-context.ts'
import { instanceView } from '#test/unit/views.ts'

const ended = { step: 'running' } as const
/** An instance with these states, each starting that many seconds after the first. */
function through(given: Partial<InstanceView>, ...steps: [InstanceState, number][]): InstanceView {
  const history = steps.map(([state, at]) => ({ state, at, actualStatus: state }))
  const state = steps.at(-1)?.[0] ?? 'running'
  return instanceView({ state, intendedStatus: 'running', history, ...given })
}

test.each<[string, InstanceView | undefined, RegExp | undefined]>([
  [
    'went offline after 59 minutes',
    through({}, ['loading', 0], ['running', 60], ['offline', 3600]),
    /offline/,
  ],
  ['crashed after an hour', through({}, ['running', 0], ['crashed', 3601]), undefined],
  [
    'fell silent, then went offline',
    through({}, ['running', 0], ['silent', 9], ['offline', 9999]),
    /offline/,
  ],
  ['never ran', through({}, ['provisioning', 0], ['loading', 9], ['crashed', 20]), /crashed while starting/],
  ['was stopped by the user', through({}, ['running', 0], ['stopping', 9], ['stopped', 20]), undefined],
  [
    'was stopped, and then its machine went offline',
    through({ intendedStatus: 'stopped' }, ['running', 0], ['offline', 20]),
    undefined,
  ],
  [
    'was outbid, and then its machine went offline',
    through({}, ['running', 0], ['outbid', 9], ['offline', 20]),
    undefined,
  ],
  ['was outbid', through({}, ['running', 0], ['outbid', 9]), undefined],
  ['was found dead', through({}, ['crashed', 0]), undefined],
  ['runs', through({}, ['running', 0]), undefined],
  ['is gone', undefined, undefined],
])('the host failure of an instance that %s', (_, instance, why) => {
  const said = hostFailure(ended, instance)
  if (why) expect(said).toMatch(why)
  else expect(said).toBeUndefined()
})

test('an instance not running by its deadline counts as a host failure', () => {
  const problem = { code: 'late', message: 'It’s taking longer than usual to start.' }
  expect(hostFailure({ step: 'late', problem }, through({}, ['loading', 0]))).toBe(problem.message)
})

test('each attempt counts once against its machine, and not again once forgiven', async () => {
  const context = accountContext()
  const open = () => openFailedMachines(context)
  const hosts = await open()
  const failed = (mark: string) =>
    hosts.blame({ mark, offer: { id: 1, machineId: 7 }, at: 5, why: 'It died.' })
  for (let poll = 0; poll < 3; poll += 1) for (const mark of ['r1', 'r2']) await failed(mark)
  expect(hosts.view()).toEqual({ 7: { machineId: 7, times: 2, lastAt: 5, why: 'It died.' } })
  await hosts.forgive(7)
  await failed('r1')
  expect([hosts.view(), (await open()).view()]).toEqual([{}, {}])
  await failed('r3')
  expect(hosts.view()).toMatchObject({ 7: { times: 1 } })
})

test('a machine that is soon down for maintenance comes last, and is not shown as failed', async () => {
  const hosts = await openFailedMachines(accountContext(), () => new Set([8]))
  await hosts.blame({ mark: 'r1', offer: { id: 1, machineId: 7 }, at: 5, why: 'It died.' })
  expect(Object.keys(hosts.view())).toEqual(['7'])
  expect(Object.keys(hosts.avoided())).toEqual(['7', '8'])
})
