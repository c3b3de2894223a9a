import { expect, test } from 'vitest'
import { flushPromises } from '#test/berth/clocks.ts'
import { instanceView } from '#test/unit/views.ts'
import { OneAccount } from './one-account.ts'
import { storedLimit } from './stored-limit.ts'

const hour = 3600
const running = instanceView({ id: 7 })
const settings = { instance: 7, action: 'stop', asleep: false, warning: 0, missed: 'act' } as const
const inAnHour = { ...settings, when: { kind: 'duration', seconds: hour } } as const

/** A limit that Berth has watched for ten minutes. */
async function limited(chosen: Parameters<OneAccount['limits']['set']>[0], instance = running) {
  const one = new OneAccount(instance)
  await one.start()
  await one.pass(60)
  const id = await one.limits.set(chosen)
  await one.pass(600)
  return { one, id, step: () => one.view(id)?.step }
}

test('a limit ends after two polls in a row without its instance, not after one', async () => {
  const { one, step } = await limited(inAnHour)
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

test('a warning waits while the instance is stopped, and is sent once it runs', async () => {
  const { one, step } = await limited({ ...inAnHour, warning: 900 })
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

test('idle time counts on over a short restart, and starts over after a long one', async () => {
  const idle = { kind: 'idle', below: 5, seconds: hour } as const
  for (const [away, left] of [
    [60, hour - 600 - 60],
    [1800, hour],
  ] as const) {
    const { one, id } = await limited({ ...settings, when: idle }, { ...running, gpuLoad: 0 })
    // The delayed write is on disk.
    await one.clock.pass(2000)
    one.kill()
    await one.clock.pass(away * 1000)
    await one.start()
    await one.poll()
    await one.poll()
    expect(Math.abs((one.view(id)?.dueAt ?? 0) - one.now() - left)).toBeLessThan(60)
  }
})

test('after a kill between request and answer the next start tells that it was stopped', async () => {
  const { one, id } = await limited(inAnHour)
  one.before = () => new Promise(() => undefined)
  await one.pass(hour - 600)
  one.kill()
  one.instances = [{ ...running, state: 'stopped' }]
  await one.start()
  await one.poll()
  expect(one.view(id)?.step).toBe('done')
  expect([one.asked, one.told]).toEqual([[], ['Stopped Instance #7']])
})

test('a refused stop is retried ever more rarely, and its failure reported once', async () => {
  const { one, step } = await limited(inAnHour)
  one.refusals.push(...Array.from({ length: 8 }, () => new Error('no')))
  await one.pass(hour - 600)
  expect([step(), one.asked]).toEqual(['held', ['stop 7']])
  await one.pass(hour)
  await flushPromises()
  expect(one.asked.length).toBe(9)
  expect(step()).toBe('done')
  expect(one.told).toEqual([
    expect.stringMatching(/late: the first try failed$/),
    'Instance #7 isn’t stopped yet',
    'Stopped Instance #7',
  ])
})

test('a limit is done once a reading shows it, whatever the service answers', async () => {
  const { one, step } = await limited(inAnHour)
  one.ignores = true
  await one.pass(hour)
  expect(step()).toBe('acting')
  expect(one.asked.length).toBeGreaterThan(5)
  expect(one.told).toEqual(['Instance #7 isn’t stopped yet'])
  one.ignores = false
  await one.pass(120)
  expect([step(), one.told.at(-1)]).toEqual(['done', 'Stopped Instance #7'])
})

test('a limit that is due acts on an instance that only the list shows as stopped', async () => {
  const { one, step } = await limited(inAnHour)
  one.instances = [{ ...running, state: 'stopped' }]
  one.listLies = true
  await one.pass(hour)
  expect(one.asked.length).toBeGreaterThan(0)
  expect(step()).toBe('acting')
  one.listLies = false
  await one.pass(120)
  expect([step(), one.told.at(-1)]).toEqual(['done', 'Stopped Instance #7'])
})

test('a limit is over without a request where its instance was stopped', async () => {
  const { one, step } = await limited(inAnHour)
  one.instances = [{ ...running, state: 'stopped' }]
  await one.pass(hour)
  expect([step(), one.asked, one.told]).toEqual(['over', [], []])
})

test('its warning ends with a limit whose instance was stopped while nothing was seen', async () => {
  const { one, id, step } = await limited({ ...inAnHour, warning: 900 })
  await one.pass(hour - 600 - 300)
  one.answers = false
  one.instances = [{ ...running, state: 'stopped' }]
  await one.pass(600)
  expect([step(), one.told.length, one.withdrawn]).toEqual(['held', 2, []])
  one.answers = true
  await one.pass(60)
  expect([step(), one.asked, one.withdrawn]).toEqual(['over', [], [expect.stringContaining(id)]])
})

test('a limit outlasts a crash, and acts once its instance runs again', async () => {
  const { one, step } = await limited(inAnHour)
  one.instances = [{ ...running, state: 'crashed' }]
  await one.pass(2 * hour)
  expect([step(), one.asked]).toEqual(['waiting', []])
  one.instances = [running]
  await one.pass(60)
  expect([step(), one.asked]).toEqual(['done', ['stop 7']])
})

test('a limit holds again for an instance that was gone and returns', async () => {
  const { one, step } = await limited(inAnHour)
  one.instances = []
  await one.pass(300)
  expect(step()).toBe('over')
  one.instances = [running]
  await one.poll()
  expect(step()).toBe('waiting')
  await one.pass(hour)
  expect([step(), one.asked]).toEqual(['done', ['stop 7']])
})

test('a rental’s limits go with it to the instance that turns out to be its own', async () => {
  const mark = 'r00000000000000aa'
  const hours = [{ when: inAnHour.when, action: 'stop' as const, asleep: false }]
  const one = new OneAccount()
  await one.start()
  await one.limits.limitRental(mark, 999_999_999, hours)
  await one.pass(300)
  one.instances = [running]
  await one.poll()
  await one.limits.limitRental(mark, 7, hours)
  await one.pass(hour - 300)
  expect([Object.values(one.shown()).map(({ step }) => step), one.asked]).toEqual([['done'], ['stop 7']])
})

test('the hours of a rental count from when it was asked for, however late its instance is found', async () => {
  const one = new OneAccount(running)
  await one.start()
  const since = one.now()
  const hours = { when: inAnHour.when, action: 'stop' as const, asleep: false }
  const atNoon = { ...hours, when: { kind: 'time' as const, at: since + 1200 } }
  await one.pass(1800)
  await one.limits.limitRental('r00000000000000aa', 7, [hours], { since })
  await one.limits.limitRental('r00000000000000bb', 8, [atNoon], { since })
  await one.pass(1700)
  expect(one.asked).toEqual([])
  await one.pass(120)
  expect(one.asked).toEqual(['stop 7'])
})

test('a limit spares an instance whose data is not saved, and one that it no longer wants', async () => {
  const { one, id, step } = await limited({ ...inAnHour, action: 'destroy' })
  one.before = async () => undefined
  await one.pass(hour)
  expect([step(), one.view(id)?.problem?.code, one.asked]).toEqual(['held', 'not_saved', []])
  let save: () => void = () => undefined
  one.before = ({ action }) =>
    new Promise(resolve => {
      save = () => resolve(action)
    })
  await one.pass(600)
  await one.limits.remove(id)
  save()
  await one.pass(600)
  expect(one.asked).toEqual([])
})

test('a limit that destroys and only stopped, since a run’s files aren’t here, says so', async () => {
  const { one, id } = await limited({ ...inAnHour, action: 'destroy' })
  one.before = async () => 'stop'
  await one.pass(hour)
  expect(one.asked).toEqual(['stop 7'])
  const words = /^Its 1 h are up\. It was to be destroyed, but a run’s files may not be here yet\./
  expect(
    one
      .view(id)
      ?.history.at(-1)
      ?.text.replace(/^Stopped .*?#7\. /, ''),
  ).toMatch(words)
  expect(one.bodies.at(-1)).toMatch(words)
  const { one: other } = await limited(inAnHour)
  await other.pass(hour)
  expect(other.bodies.at(-1)).toBe('Its 1 h are up.')
})

test('one refused stop does not block the others, and the history has the figures', async () => {
  const one = new OneAccount(running, { ...running, id: 8 })
  await one.start()
  await one.poll()
  one.refusals.push(new Error('no'))
  const when = { kind: 'credit', hours: 10_000 } as const
  const id = await one.limits.set({ ...settings, instance: undefined, when })
  await one.poll()
  expect(one.asked).toEqual(['stop 7', 'stop 8'])
  const record = () => one.view(id)?.history.map(({ text }) => text) ?? []
  expect(record()).toContainEqual(expect.stringMatching(/^Stopped .*#8.* Credit at that time: \$50\.00\.$/))

  const { one: other, id: timed } = await limited(inAnHour)
  await other.pass(hour)
  expect(other.view(timed)?.history.at(-1)?.text).toMatch(/It has cost \$[\d.,]+ so far\.$/)
})

test('a limit’s time must be in the future and at most a year ahead', async () => {
  const one = new OneAccount(running)
  await one.start()
  const at = (time: number) => one.limits.set({ ...settings, when: { kind: 'time', at: time } })
  for (const time of [one.now() - 1, one.now(), one.now() + 367 * 86_400])
    await expect(at(time)).rejects.toMatchObject({ problem: { code: 'invalid_argument', field: 'when.at' } })
  await at(one.now() + 1)
})

test('a limit stops no outbid instance, and stops it once it runs again', async () => {
  const { one, step } = await limited(inAnHour)
  one.instances = [instanceView({ id: 7, state: 'outbid' })]
  for (const _ of [1, 2, 3]) await one.pass(hour)
  expect([one.asked, step()]).toEqual([[], 'waiting'])
  expect(one.told).toEqual([])
  one.instances = [running]
  await one.poll()
  await one.poll()
  expect([one.asked, step()]).toEqual([['stop 7'], 'done'])
})

test('an instance that its user starts again has its limit on time again', async () => {
  const { one, id } = await limited(inAnHour)
  await one.pass(hour)
  expect(one.view(id)?.step).toBe('done')
  one.instances = [running]
  await one.limits.startAgain(7)
  await one.poll()
  expect(Object.values(one.shown())).toMatchObject([{ step: 'waiting', when: { seconds: hour } }])
  await one.pass(hour)
  expect(one.asked).toEqual(['stop 7', 'stop 7'])
})

test.each(['before it has acted', 'after'])(
  'a limit of a move no longer counts once its user starts the machine that the run left, %s',
  async when => {
    const one = new OneAccount(running)
    await one.start(
      storedLimit({
        when: { kind: 'duration', seconds: hour },
        setAt: one.now(),
        leaving: true,
        asleep: true,
      }),
    )
    await one.pass(when === 'after' ? hour : 60)
    const before = when === 'after' ? ['stop 7'] : []
    expect(one.asked).toEqual(before)
    one.instances = [running]
    await one.limits.startAgain(7)
    await one.pass(2 * hour)
    expect([one.asked, one.shown()]).toEqual([before, {}])
  },
)

test('an instance that its user starts again may cost as much again as its limit was', async () => {
  const spent = (micros: number, at: number) => instanceView({ id: 7, spent: { micros, perHour: 0, at } })
  const one = new OneAccount(spent(1_000_000, 0))
  await one.start()
  await one.pass(60)
  await one.limits.set({ ...settings, when: { kind: 'cost', dollars: 5 } })
  const limits = () => Object.values(one.shown()).map(({ when, step }) => [when, step])
  for (const [cost, next] of [
    [5_200_000, 10.2],
    [10_300_000, 15.3],
  ] as const) {
    one.instances = [spent(cost, one.now())]
    await one.pass(60)
    await one.limits.startAgain(7)
    await one.poll()
    expect(limits()).toEqual([[{ kind: 'cost', dollars: next }, 'waiting']])
  }
  expect(one.asked).toEqual(['stop 7', 'stop 7'])
})

test.each(['extended', 'removed', 'switched off'] as const)(
  'a limit whose requests fail lets its instance go on once it is %s, but not while a request is under way',
  async how => {
    const { one, id } = await limited({ ...inAnHour, action: 'destroy' })
    one.refusals.push(...Array.from({ length: 200 }, () => new Error('no')))
    await one.pass(hour)
    const asked = one.asked.length
    expect(asked).toBeGreaterThan(0)
    const takesBack = {
      extended: () => one.limits.snooze(id, 60),
      removed: () => one.limits.remove(id),
      'switched off': () => one.limits.switch(id, false),
    }[how]
    let answer = () => {}
    const answered = new Promise<void>(resolve => {
      answer = resolve
    })
    one.delay = answered
    while (one.asked.length === asked) await one.pass(30)
    await expect(takesBack()).rejects.toMatchObject({ problem: { code: 'ending_requested' } })
    answer()
    one.delay = undefined
    await flushPromises()
    await takesBack()
    one.refusals.length = 0
    const before = one.asked.length
    await one.pass(1800)
    expect(one.asked).toHaveLength(before)
    expect(one.instances).toHaveLength(1)
    if (how !== 'extended') return
    await one.pass(2 * hour)
    expect(one.instances).toEqual([])
  },
)

test('a limit whose request was taken can’t be extended any more, though its instance is still listed', async () => {
  const { one, id } = await limited({ ...inAnHour, action: 'destroy' })
  one.ignores = true
  await one.pass(hour)
  expect(one.asked.length).toBeGreaterThan(0)
  await expect(one.limits.snooze(id, 60)).rejects.toMatchObject({ problem: { code: 'ending_requested' } })
})
