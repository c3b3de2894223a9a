import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import type { Args } from '#contract/commands.ts'
import { wire } from '#service/http/http-request.ts'
import { haste } from '#test/berth/clocks.ts'
import {
  codeOf,
  instancesOf,
  isHalted,
  limitsOf,
  rentalsOf,
  rentCheapest,
  rentRunning,
  setLimit,
  stateOf,
  stops,
} from '#test/berth/steps.ts'
import { type BerthUnderTest, test as base, type Connected, type World } from '#test/berth/world.ts'
import { nextMorning } from '#test/morning.ts'

type LimitSettings = Pick<Args<'setLimit'>, 'when'> & Partial<Args<'setLimit'>>

interface Running extends Connected {
  id: number
}

/** Worlds with a running instance. */
const test = base.extend('running', ({ connected }) => async (): Promise<Running> => {
  // A day that ends meanwhile would reset its budget.
  const { world, under } = await connected({ start: nextMorning() })
  return { world, under, id: (await rentRunning(under)).id }
})

const soon = { timeout: 150_000, interval: 20 }
const minute = 60
const hour = 3600

/**
 * Advances the world but not this machine's clock, as a sleep does, and polls. Two more polls follow while awake:
 * sleeps without time between them would look like a faster world.
 */
async function sleepThrough(under: BerthUnderTest, { sim }: World, seconds: number): Promise<void> {
  await sim.controls.advance(seconds)
  await under.run('refresh', {})
  for (let awake = 0; awake < 2; awake += 1) {
    await wait(measured)
    await under.run('refresh', {})
  }
}
/** Milliseconds: slightly more than `shortestMeasurement` of the account's clock, divided by `haste`. */
const measured = 950 / haste

describe.concurrent('each kind of limit acts on the first poll after its moment, and once', () => {
  const kinds: [string, (under: BerthUnderTest, id: number, now: number) => LimitSettings][] = [
    ['at a time', (_under, id, now) => ({ instance: id, when: { kind: 'time', at: now + 2 * hour } })],
    ['after a duration', (_under, id) => ({ instance: id, when: { kind: 'duration', seconds: 2 * hour } })],
    ['idle', (_under, id) => ({ instance: id, when: { kind: 'idle', below: 100, seconds: 5 * minute } })],
    ['cost', (under, id) => ({ instance: id, when: { kind: 'cost', dollars: hourly(under, id) * 2 } })],
    [
      'budget of a day',
      (under, id) => ({ when: { kind: 'budget', per: 'day', dollars: hourly(under, id) * 2 } }),
    ],
    [
      'budget of a month',
      (under, id) => ({ when: { kind: 'budget', per: 'month', dollars: hourly(under, id) * 2 } }),
    ],
    ['credit', (under, id) => ({ when: { kind: 'credit', hours: 100 / hourly(under, id) - 2 } })],
  ]
  const hourly = (under: BerthUnderTest, id: number) =>
    (under.account().instances[id]?.costPerHour ?? 0) / 1_000_000

  test.for(kinds)('%s', async ([name, settings], { running, expect }) => {
    const { world, under, id } = await running()
    world.sim.controls.setCredit(100)
    await under.run('refresh', {})
    await setLimit(under, settings(under, id, world.sim.controls.ledger().now))
    await under.run('refresh', {})
    expect(stateOf(under, id)).toBe('running')
    if (name !== 'idle') await world.sim.controls.advance(4 * hour)
    await under.until(() => isHalted(under, id))
    await under.until(() => limitsOf(under)[0]?.step !== 'acting')
    const reported = () => world.titles().filter(title => title.startsWith('Stopped'))
    await expect.poll(reported).toHaveLength(1)
    await under.run('refresh', {})
    expect(stops(world, id)).toHaveLength(1)
    expect(reported()).toHaveLength(1)
    expect(limitsOf(under)[0]?.history.map(({ text }) => text)).toContainEqual(
      expect.stringMatching(/^Stopped /),
    )
  })
})

test.concurrent('a frozen instance is billed and idle, and is stopped for it', async ({
  running,
  expect,
}) => {
  const { world, under, id } = await running()
  const { costPerHour } = under.account().instances[id] ?? {}
  await world.sim.controls.forceStatus(id, 'frozen')
  await under.until(() => stateOf(under, id) === 'frozen')
  expect(under.account().instances[id]?.costPerHour).toBe(costPerHour)
  await expect.poll(() => world.titles()).toContainEqual(expect.stringMatching(/ is frozen$/))
  await setLimit(under, { instance: id, when: { kind: 'idle', below: 5, seconds: 5 * minute } })
  await under.until(() => isHalted(under, id))
  await under.until(() => limitsOf(under)[0]?.step !== 'acting')
  expect(stops(world, id)).toHaveLength(1)
})

test.concurrent('a changed limit keeps its history, and its snooze while its time is the same', async ({
  running,
}) => {
  const { world, under, id } = await running()
  const at = world.sim.controls.ledger().now + 2 * hour
  const first = await setLimit(under, { instance: id, when: { kind: 'time', at } })
  await under.run('snoozeLimit', { limit: first, minutes: 60 })
  expect(limitsOf(under)[0]?.sentence).toMatch(/ at .+, extended from .+\.$/)
  const second = await setLimit(under, {
    limit: first,
    instance: id,
    when: { kind: 'time', at },
    warning: 300,
  })
  const [changed, ...others] = limitsOf(under)
  expect(others).toEqual([])
  expect(changed).toMatchObject({ id: second, warning: 300, snoozedUntil: at + hour })
  expect(changed?.history.map(({ text }) => text)).toEqual([
    expect.stringMatching(/^Extended until/),
    expect.stringMatching(/^Changed\. Before: Stops .+, extended from/),
  ])
  await setLimit(under, { limit: second, instance: id, when: { kind: 'time', at: at + 60 } })
  expect(limitsOf(under)[0]?.snoozedUntil).toBeUndefined()
})

test.concurrent('a duration keeps its moment where only its warning changes', async ({ running }) => {
  const { world, under, id } = await running()
  const when = { kind: 'duration', seconds: 8 * hour } as const
  const first = await setLimit(under, { instance: id, when })
  const dueAt = limitsOf(under)[0]?.dueAt ?? 0
  await world.sim.controls.advance(hour)
  await under.run('refresh', {})
  const same = { limit: first, sameWhen: true }
  const preview = await under.run('previewLimit', { ...same, instance: id, when, action: 'destroy' })
  expect(preview.dueAt).toBe(Math.round(dueAt))
  await setLimit(under, { ...same, instance: id, when, warning: 300 })
  expect(limitsOf(under)).toMatchObject([{ warning: 300, dueAt }])
})

test.concurrent('a limit warns ahead, is snoozed from the alert, and acts at its new time', async ({
  connected,
  expect,
}) => {
  // In a faster world its moment could come early on a slow machine.
  const { world, under } = await connected({ start: nextMorning(), speed: 1 })
  await rentCheapest(under)
  await under.until(() => rentalsOf(under)[0]?.step === 'waiting')
  await sleepThrough(under, world, hour)
  await under.until(() => instancesOf(under)[0]?.state === 'running')
  const id = instancesOf(under)[0]?.id ?? 0
  const limitId = await setLimit(under, {
    instance: id,
    when: { kind: 'duration', seconds: 2 * hour },
    warning: 30 * minute,
  })
  await sleepThrough(under, world, hour)
  expect(world.titles().filter(title => title.includes(' stops at '))).toEqual([])
  await sleepThrough(under, world, 40 * minute)
  await expect.poll(() => world.titles(), soon).toContainEqual(expect.stringContaining(' stops at '))
  const [warning] = world.notifier.shown.filter(({ title }) => title.includes(' stops at '))
  expect(warning?.actions.map(({ label }) => label)).toContain('Extend 1 h')

  const before = limitsOf(under)[0]?.dueAt ?? 0
  world.notifier.click(warning?.id ?? '', 'command-snooze')
  await under.until(() => limitsOf(under)[0]?.snoozedUntil !== undefined)
  expect(limitsOf(under)[0]).toMatchObject({ id: limitId, step: 'waiting', dueAt: before + hour })
  await sleepThrough(under, world, 40 * minute)
  expect(stateOf(under, id)).toBe('running')
  await sleepThrough(under, world, 40 * minute)
  await under.until(() => isHalted(under, id))
})

describe.concurrent('a limit whose moment was missed', () => {
  test('acts once afterwards where that was chosen', async ({ running, expect }) => {
    const { world, under, id } = await running()
    await setLimit(under, { instance: id, when: { kind: 'duration', seconds: hour } })
    await under.close()
    await world.sim.controls.advance(9 * hour)
    const woken = await world.start()
    await woken.until(() => isHalted(woken, id))
    await woken.until(() => limitsOf(woken)[0]?.step === 'done')
    await woken.run('refresh', {})
    expect(stops(world, id)).toHaveLength(1)
    await expect.poll(() => world.notifier.shown.at(-1)?.body, soon).toContain('while Berth wasn’t polling')
  })
})

test.concurrent('a limit cut off while acting continues after a restart, at any time', async ({
  running,
}) => {
  const { world, under, id } = await running()
  world.sim.controls.setFaults([{ method: 'PUT', path: '/instances/\\d+/$', kind: 'hang' }])
  await setLimit(under, { instance: id, when: { kind: 'duration', seconds: minute }, missed: 'tell' })
  await under.until(() => limitsOf(under)[0]?.step === 'acting')
  await under.close()
  world.sim.controls.setFaults([])
  await world.sim.controls.advance(9 * hour)
  const again = await world.start()
  await again.until(() => isHalted(again, id))
  await again.until(() => limitsOf(again)[0]?.step === 'done')
})

test.concurrent('a limit does not act on a credit that the poll did not return', async ({ running }) => {
  const { world, under, id } = await running()
  world.sim.controls.setCredit(0.01)
  await under.run('refresh', {})
  world.sim.controls.setFaults([{ path: '/users/current', kind: 'status', status: 403 }])
  await setLimit(under, { when: { kind: 'credit', hours: 100 } })
  await sleepThrough(under, world, hour)
  await sleepThrough(under, world, hour)
  expect(under.account().limitation).toContain('credit')
  expect(stops(world, id)).toEqual([])
  world.sim.controls.setFaults([])
  await under.until(() => isHalted(under, id))
})

test.concurrent('a limit does not act on answers whose date is a year ahead', async ({
  running,
  onTestFinished,
}) => {
  const { world, under, id } = await running()
  const leaping = leapingDates(world.sim.baseUrl)
  onTestFinished(leaping.end)
  await setLimit(under, { instance: id, when: { kind: 'duration', seconds: 100 * hour }, action: 'destroy' })
  await under.run('refresh', {})
  // Nothing was charged for that year.
  leaping.leap({ after: 1, during: Number.POSITIVE_INFINITY })
  await under.poll(5)
  expect(leaping.told()).toBeGreaterThan(0)
  expect(stateOf(under, id)).toBe('running')
  expect(limitsOf(under)[0]?.step).toBe('waiting')
})

/** Dates a service's answers a year ahead for some milliseconds, after so many right ones, as a proxy with a wrong clock does. */
function leapingDates(service: string) {
  const plain = wire.send
  let right = Number.POSITIVE_INFINITY
  let during = 0
  let until = Number.POSITIVE_INFINITY
  let told = 0
  wire.send = async request => {
    const answer = await plain(request)
    const { date } = answer.headers
    if (!date || !request.url.startsWith(service)) return answer
    right -= 1
    if (right < 0) until = Math.min(until, performance.now() + during)
    if (right >= 0 || performance.now() > until) return answer
    told += 1
    const ahead = new Date(Date.parse(date) + 365 * 86_400_000).toUTCString()
    return { ...answer, headers: { ...answer.headers, date: ahead } }
  }
  return {
    leap(lie: { after: number; during: number }) {
      right = lie.after
      during = lie.during
    },
    told: () => told,
    end: () => {
      wire.send = plain
    },
  }
}

test.concurrent('two Berths with a limit each on one instance both end without an error', async ({
  running,
  openWorld,
}) => {
  const { world, under: one, id } = await running()
  const other = await openWorld()
  const two = await other.startConnected(world.sim.baseUrl, world.sim.apiKey)
  await two.until(() => stateOf(two, id) === 'running')
  const settings: LimitSettings = {
    instance: id,
    when: { kind: 'duration', seconds: hour },
    action: 'destroy',
  }
  await Promise.all([setLimit(one, settings), setLimit(two, settings)])
  await world.sim.controls.advance(2 * hour)
  for (const under of [one, two]) {
    await under.until(() => instancesOf(under).length === 0)
    await under.until(() => ['done', 'over'].includes(limitsOf(under)[0]?.step ?? ''))
  }
  expect([...world.titles(), ...other.titles()].filter(title => title.includes('did not work'))).toEqual([])
})

test.concurrent('a limit switched off does nothing, and switched on starts its duration anew', async ({
  running,
  expect,
}) => {
  const { world, under, id } = await running()
  const set = await setLimit(under, { instance: id, when: { kind: 'duration', seconds: hour } })
  const first = limitsOf(under)[0]?.dueAt ?? 0
  await under.run('switchLimit', { limit: set, on: false })
  expect(limitsOf(under)).toMatchObject([{ step: 'off' }])
  expect(limitsOf(under)[0]?.dueAt).toBeUndefined()
  expect(await codeOf(under.run('snoozeLimit', { limit: set, minutes: 60 }))).toBe('limit_off')
  await sleepThrough(under, world, 2 * hour)
  expect(stops(world, id)).toEqual([])
  await under.run('switchLimit', { limit: set, on: true })
  expect(limitsOf(under)[0]?.dueAt).toBeGreaterThan(first + hour)
  await under.run('switchLimit', { limit: set, on: true })
  await sleepThrough(under, world, 2 * hour)
  await under.until(() => isHalted(under, id))
  // Until a later reading shows it too, its stop is under way.
  await expect.poll(() => codeOf(under.run('switchLimit', { limit: set, on: false }))).toBe('limit_ended')
  expect(await codeOf(under.run('snoozeLimit', { limit: set, minutes: 60 }))).toBe('limit_ended')
})
