import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import { deferred } from '#platform/tasks.ts'
import { defaultSettings } from '#shared/settings.ts'
import { publicProfile } from '#simulator/deployment.ts'
import { flushPromises, HandClock } from '#test/berth/clocks.ts'
import { instancesOf } from '#test/berth/steps.ts'
import { createWorld } from '#test/berth/world.ts'
import { json, type Reply, ScriptedService } from '#test/unit/service/scripted-service.ts'

const minutes = 10

/** Counts the requests whose answers are not read to their end. */
function countRequests(): () => number {
  let open = 0
  const begin = () => {
    open += 1
  }
  const end = () => {
    open -= 1
  }
  const channels = [
    ['undici:request:create', begin],
    ['undici:request:trailers', end],
    ['undici:request:error', end],
  ] as const
  for (const [name, listener] of channels) subscribe(name, listener)
  onTestFinished(() => {
    for (const [name, listener] of channels) unsubscribe(name, listener)
  })
  return () => open
}

test('sixty instances are polled once per default interval, with under 5% refused', async ({ signal }) => {
  // One clock for the service, its rate limits and Berth.
  const clock = new HandClock()
  const world = await createWorld({
    ...{ seed: 5, speed: 0, start: clock.now(), calm: true },
    ...{ deployment: publicProfile, limitClock: () => clock.monotonic() },
  })
  onTestFinished(() => world.close())
  world.platform.clock = clock
  const { baseUrl, apiKey, controls } = world.sim
  const pass = async (milliseconds: number) => {
    await controls.advance(milliseconds / 1000)
    await clock.pass(milliseconds)
  }
  const { offers } = await world.api<{ offers: { id: number }[] }>('POST', '/api/v0/bundles/', { limit: 60 })
  for (const { id } of offers) {
    await world.api('PUT', `/api/v0/asks/${id}/`, { image: 'ubuntu', disk: 8 })
    await pass(5000)
  }
  await pass(600_000)

  const open = countRequests()
  /** Advances the clock to the next timer whenever no request is open. */
  const live = async (isOver: () => boolean) => {
    while (!isOver()) {
      signal.throwIfAborted()
      await flushPromises()
      const [next] = clock.waiting
      if (open() === 0 && next !== undefined) await pass(next)
    }
  }
  const under = await world.start()
  let isConnected = false
  const connecting = under.run('connectAccount', { baseUrl, key: apiKey }).finally(() => {
    isConnected = true
  })
  await live(() => isConnected)
  await connecting
  await live(() => instancesOf(under).length === 60)

  const sent = controls.requests().length
  const began = clock.monotonic()
  await live(() => {
    expect(instancesOf(under)).toHaveLength(60)
    expect(under.account().uncertain).toBeUndefined()
    return clock.monotonic() >= began + minutes * 60_000
  })
  const seconds = (clock.monotonic() - began) / 1000
  const answers = controls.requests().slice(sent)
  const polls = answers.filter(({ path, status }) => path.includes('/users/current/') && status === 200)
  expect(Math.abs(polls.length - seconds / defaultSettings.pollInterval)).toBeLessThanOrEqual(1)
  const refused = answers.filter(({ status }) => status === 429)
  expect(refused.length / answers.length).toBeLessThan(0.05)

  const { charges, now } = controls.ledger()
  const rates = charges.filter(({ kind, to }) => to === now && (kind === 'gpu' || kind === 'disk'))
  expect(rates).toHaveLength(120)
  const perHour = rates.reduce((sum, { micro_dollars_per_hour }) => sum + micro_dollars_per_hour, 0)
  expect(under.account().spendPerHour).toBe(perHour)
})

test('the first page is shown while the second is awaited, and nothing counts as gone until the end', async () => {
  const service = await ScriptedService.start()
  const world = await createWorld()
  world.platform.clock = systemClock
  onTestFinished(async () => {
    await world.close()
    await service.stop()
  })
  const page = (from: number, count: number, next: string | null): Reply =>
    json({
      total_instances: 40,
      next_token: next,
      instances: Array.from({ length: count }, (_, index) => ({
        id: from + index,
        actual_status: 'running',
      })),
    })
  let answerSecond = deferred<void>()
  service.otherwise = (seen, response, raw) => {
    const { pathname, searchParams } = new URL(seen.url, service.baseUrl)
    if (pathname === '/api/v0/users/current/')
      return json({ id: 7, email: 'a@b.example', credit: 1 })(seen, response, raw)
    if (pathname !== '/api/v1/instances/') return json({}, 404)(seen, response, raw)
    if (!searchParams.has('after_token')) return page(1, 25, 'second')(seen, response, raw)
    void answerSecond.promise.then(() => page(26, 15, null)(seen, response, raw))
  }

  const first = await world.start()
  const connecting = first.run('connectAccount', { baseUrl: service.baseUrl, key: 'some-key' })
  await first.until(({ shown }) => shown !== undefined && instancesOf(first).length > 0)
  const partly = {
    connection: { status: 'connecting' },
    uncertain: { reason: 'The instance list is still loading: 25 instances so far.' },
  }
  expect(first.account()).toMatchObject(partly)
  expect(instancesOf(first)).toHaveLength(25)
  expect(world.notifier.shown).toEqual([])
  answerSecond.resolve()
  await connecting
  await first.until(() => first.account().connection.status === 'online')
  expect(instancesOf(first)).toHaveLength(40)
  expect(first.account().uncertain).toBeUndefined()
  expect(Object.values(first.berth.state().activity).filter(({ text }) => /certain|gone/.test(text))).toEqual(
    [],
  )
  await first.close()

  answerSecond = deferred<void>()
  const second = await world.start()
  await second.until(() => second.account().uncertain !== undefined)
  expect(second.account()).toMatchObject(partly)
  expect(second.account().uncertain?.instances).toHaveLength(15)
  expect(instancesOf(second)).toHaveLength(40)
  answerSecond.resolve()
  await second.until(() => second.account().connection.status === 'online')
  expect(second.account().uncertain).toBeUndefined()
  expect(instancesOf(second)).toHaveLength(40)
})
