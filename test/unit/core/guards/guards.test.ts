import { expect, test } from 'vitest'
import { instanceView } from '../../views.ts'
import { flushPromises } from '../hand-clock.ts'
import { OneAccount } from './one-account.ts'

const hour = 3600
const running = instanceView({ id: 7 })
const inAnHour = {
  instance: 7,
  action: 'stop',
  warning: 0,
  when: { kind: 'duration', seconds: hour },
} as const

/** Berth was there for ten minutes since the guard was set. */
async function guarded(settings: Parameters<OneAccount['guards']['set']>[0], instance = running) {
  const one = new OneAccount(instance)
  await one.start()
  await one.pass(60)
  const id = await one.guards.set(settings)
  await one.pass(600)
  return { one, id, step: () => one.view(id)?.step }
}

test('one answer without its instance ends no guard, and two in a row do', async () => {
  const { one, step } = await guarded({ ...inAnHour, missed: 'act' })
  const there = one.instances
  for (const _ of [1, 2]) {
    one.instances = []
    await one.poll()
    expect(step()).toBe('waiting')
    one.instances = there
    await one.poll()
  }
  one.instances = []
  await one.poll()
  await one.poll()
  expect(step()).toBe('over')
})

test.each(['act', 'tell'] as const)(
  'a laptop that wakes without a network long after the moment decides nothing before it sees: %s',
  async missed => {
    const { one, step } = await guarded({ ...inAnHour, missed })
    one.answers = false
    one.clock.sleep(9 * hour * 1000)
    await one.clock.pass(60_000)
    expect(step()).toBe('waiting')
    expect(one.told).toEqual([])
    one.answers = true
    // The clock has leapt: a second poll has to agree.
    await one.poll()
    await one.poll()
    expect(step()).toBe(missed === 'act' ? 'done' : 'missed')
    expect(one.asked).toEqual(missed === 'act' ? ['stop 7'] : [])
  },
)

test('nothing is warned of that was stopped meanwhile, and it is once that runs again', async () => {
  const { one, step } = await guarded({ ...inAnHour, warning: 900, missed: 'act' })
  one.instances = [{ ...running, state: 'stopped' }]
  await one.pass(hour - 600 - 300)
  expect([step(), one.told]).toEqual(['waiting', []])
  one.instances = [running]
  await one.poll()
  expect([step(), one.told.length]).toEqual(['warned', 1])
  one.instances = [{ ...running, state: 'stopped' }]
  await one.poll()
  expect(step()).toBe('waiting')
})

test('where the service does not answer at its moment it says so, and acts with the first answer, however late', async () => {
  const { one, step } = await guarded({ ...inAnHour, missed: 'tell' })
  one.answers = false
  await one.clock.pass(2 * hour * 1000)
  expect(step()).toBe('held')
  expect(one.told).toHaveLength(1)
  one.answers = true
  await one.poll()
  await one.poll()
  expect(one.asked).toEqual(['stop 7'])
  expect(step()).toBe('done')
})

test('idleness goes on counting over a restart that was short, and not over a long one', async () => {
  const idle = { kind: 'idle', below: 5, seconds: hour } as const
  for (const [away, left] of [
    [60, hour - 600 - 60],
    [1800, hour],
  ] as const) {
    const { one, id } = await guarded(
      { instance: 7, action: 'stop', warning: 0, missed: 'act', when: idle },
      { ...running, gpuLoad: 0 },
    )
    // What is written soon is on disk.
    await one.clock.pass(2000)
    one.kill()
    await one.clock.pass(away * 1000)
    await one.start()
    await one.poll()
    await one.poll()
    expect(Math.abs((one.view(id)?.dueAt ?? 0) - one.now() - left)).toBeLessThan(60)
  }
})

test('a kill between what was decided and what was asked for costs nothing: it is done once, by the next Berth', async () => {
  // That the account was seen just then is not on disk: it would look as if nobody had been there at the moment.
  const seconds = hour + 60
  const { one, id, step } = await guarded({
    ...inAnHour,
    missed: 'tell',
    when: { kind: 'duration', seconds },
  })
  // That it begins is on disk, and Berth ends before the request leaves.
  one.before = () => new Promise(() => undefined)
  await one.pass(seconds - 600)
  expect([step(), one.asked]).toEqual(['acting', []])
  one.kill()
  await one.clock.pass(2 * hour * 1000)
  await one.start()
  await one.poll()
  await one.poll()
  expect(one.asked).toEqual(['stop 7'])
  expect(one.view(id)?.step).toBe('done')
})

test('a stop that is refused is tried again, at first soon and then ever more rarely, and told once', async () => {
  const { one, step } = await guarded({ ...inAnHour, missed: 'act' })
  one.refusals.push(...Array.from({ length: 8 }, () => new Error('no')))
  await one.pass(hour - 600)
  expect([step(), one.asked]).toEqual(['held', ['stop 7']])
  // After 30 seconds, after one minute, two, four, eight and then ten.
  await one.pass(hour)
  await flushPromises()
  expect(one.asked.length).toBe(9)
  expect(step()).toBe('done')
  expect(one.told).toHaveLength(2)
})

test('of several one that is refused keeps none of the others from its turn, and the record has the figures of why', async () => {
  const one = new OneAccount(running, { ...running, id: 8 })
  await one.start()
  await one.poll()
  one.refusals.push(new Error('no'))
  const when = { kind: 'credit', hours: 10_000 } as const
  const id = await one.guards.set({ action: 'stop', warning: 0, missed: 'act', when })
  await one.poll()
  expect(one.asked).toEqual(['stop 7', 'stop 8'])
  const record = () => one.view(id)?.history.map(({ text }) => text) ?? []
  expect(record()).toContainEqual(expect.stringMatching(/^Stopped .*#8.* Seen: \$50\.00 of credit\.$/))

  const { one: other, id: timed } = await guarded({ ...inAnHour, missed: 'act' })
  await other.pass(hour)
  expect(other.view(timed)?.history.at(-1)?.text).toMatch(/It cost \$0\.400\/h\.$/)
})

test('a time that has passed, or is more than a year ahead, is no guard’s', async () => {
  const one = new OneAccount(running)
  await one.start()
  const at = (time: number) =>
    one.guards.set({
      instance: 7,
      action: 'stop',
      warning: 0,
      missed: 'act',
      when: { kind: 'time', at: time },
    })
  for (const time of [one.now() - 1, one.now(), one.now() + 367 * 86_400])
    await expect(at(time)).rejects.toMatchObject({ problem: { code: 'invalid_argument', field: 'when.at' } })
  await at(one.now() + 1)
})
