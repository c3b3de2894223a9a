import { expect } from 'vitest'
import { startSimulator } from '#simulator/simulator.ts'
import { rentRunning, rentSeveral } from '#test/berth/steps.ts'
import { test } from '#test/berth/world.ts'

test.concurrent('low credit alerts once, even after a restart, and again once it has recovered', async ({
  connected,
}) => {
  const { world, under: first } = await connected()
  world.sim.controls.setCredit(3)
  await first.poll(2)
  expect(world.titles()).toEqual(['$3.00 of credit left'])
  const second = await world.restart(first)
  await second.run('refresh', {})
  expect(world.titles()).toHaveLength(1)

  world.sim.controls.setCredit(50)
  await second.run('refresh', {})
  world.sim.controls.setCredit(2)
  await second.run('refresh', {})
  expect(world.titles()).toEqual(['$3.00 of credit left', '$2.00 of credit left'])
  const { account } = second
  expect(Object.values(second.berth.state().activity).filter(({ kind }) => kind === 'alert')).toHaveLength(2)
  expect(account().credit).toBe(2_000_000)
})

test.concurrent('an outbid instance alerts once with the winning bid, and a click opens its bid', async ({
  connected,
}) => {
  const { world, under } = await connected()
  const { id } = await rentRunning(under, { bid: 2 })
  world.notifier.shown.length = 0
  await world.sim.controls.outbid(id)
  await under.poll(2)
  const view = under.account().instances[id]
  expect(view?.state).toBe('outbid')
  expect(world.notifier.shown).toHaveLength(1)
  const winning = `$${((view?.minimumBid ?? 0) / 1_000_000).toFixed(3)}/h`
  expect(world.notifier.shown[0]?.body).toContain(winning)

  world.notifier.click(world.notifier.shown[0]?.id ?? '', 'raise_bid')
  expect(under.berth.state().goTo?.place).toEqual({ screen: 'instances', instance: id, ask: 'bid' })

  await under.run('changeBid', { instance: id, price: ((view?.minimumBid ?? 0) + 100_000) / 1_000_000 })
  await under.until(() => under.account().instances[id]?.state === 'running')
})

test.concurrent('the ready alert closes once the user opens the instance in any way', async ({
  openWorld,
}) => {
  const world = await openWorld()
  const closed: string[] = []
  world.notifier.close = async id => void closed.push(id)
  world.platform.programs = {
    find: async name => (name === 'code' || name === 'kitty' ? `/usr/bin/${name}` : undefined),
    launch: async () => undefined,
  }
  const under = await world.startConnected()
  await under.run('changeSettings', { settings: { sshConfig: true } })
  const { id } = await rentRunning(under, { access: 'jupyter' })
  const ways = {
    openJupyter: () => under.run('openJupyter', { instance: id }),
    openPort: () => under.run('openPort', { instance: id, port: 8080 }),
    openEditor: () => under.run('openEditor', { instance: id }),
    openSystemTerminal: () => under.run('openSystemTerminal', { instance: id }),
  }
  for (const [way, getIn] of Object.entries(ways)) {
    for (const status of ['loading', 'running']) {
      await world.sim.controls.forceStatus(id, status)
      await under.run('refresh', {})
    }
    const ready = world.notifier.shown.at(-1)
    expect(ready?.title, way).toMatch(/is ready$/)
    closed.length = 0
    await getIn()
    expect(closed, way).toEqual([ready?.id])
  }
})

test.concurrent('without desktop notifications an alert stays on the page until it is answered', async ({
  openWorld,
}) => {
  const world = await openWorld()
  const silent = { ...world.notifier, available: false }
  const under = await world.start({ platform: { ...world.platform, notifier: silent } })
  await under.run('connectAccount', { baseUrl: world.sim.baseUrl, key: world.sim.apiKey })
  world.sim.controls.setCredit(1)
  await under.run('refresh', {})
  const [notice] = Object.values(under.berth.state().notices)
  expect(notice?.title).toBe('$1.00 of credit left')
  await under.run('answerNotice', { id: notice?.id ?? '' })
  expect(under.berth.state().notices).toEqual({})
  expect(under.berth.state().goTo?.place).toEqual({ screen: 'instances' })
})

test.concurrent('only an instance destroyed elsewhere alerts, and only once despite a restart', async ({
  connected,
}) => {
  const { world, under: first } = await connected()
  const [{ id }, own] = await rentSeveral(first, {}, {})
  world.notifier.shown.length = 0
  await first.run('destroyInstance', { instance: own.id })
  await world.api('DELETE', `/api/v0/instances/${id}/`)
  await first.poll(3)
  expect(world.titles()).toEqual([expect.stringContaining(`#${id} is gone`)])
  const second = await world.restart(first)
  await second.poll(3)
  expect(world.titles()).toHaveLength(1)
})

test.concurrent('an instance that Berth may have destroyed is no surprise once it is gone', async ({
  connected,
}) => {
  const { world, under } = await connected()
  const { id } = await rentRunning(under)
  world.notifier.shown.length = 0
  world.sim.controls.setFaults([
    { method: 'DELETE', path: `^/api/v0/instances/${id}/`, kind: 'reset_after', times: 9 },
  ])
  // It rejects, unless a poll sees first that it is gone.
  await under.run('destroyInstance', { instance: id }).catch(() => undefined)
  await under.poll(3)
  expect(under.account().instances[id]).toBeUndefined()
  expect(world.titles()).toEqual([])
})

test.concurrent('two accounts are polled and alerted independently', async ({
  openWorld,
  onTestFinished,
}) => {
  const world = await openWorld()
  world.sim.controls.setCredit(100)
  const other = await startSimulator({ seed: 8, speed: 60, offers: 50, calm: true })
  onTestFinished(() => other.close())
  other.controls.setCredit(100)
  const under = await world.startConnected()
  const first = under.account().id
  const second = await under.run('connectAccount', {
    baseUrl: other.baseUrl,
    key: other.apiKey,
    name: 'Other',
  })
  await under.until(({ accounts }) => accounts[second]?.connection.status === 'online')
  expect(under.account().id).toBe(second)

  world.sim.controls.setCredit(1)
  await under.run('refresh', { account: first })
  other.controls.setCredit(2)
  await under.run('refresh', { account: second })
  const { accounts } = under.berth.state()
  expect([accounts[first]?.credit, accounts[second]?.credit]).toEqual([1_000_000, 2_000_000])
  expect(world.notifier.shown.map(({ id }) => id)).toEqual([`${first}/credit`, `${second}/credit`])

  world.notifier.click(`${first}/credit`)
  expect(under.account().id).toBe(first)
  world.sim.controls.setFaults([{ kind: 'status', status: 500 }])
  await under.run('refresh', { account: first })
  await under.run('refresh', { account: second })
  const after = under.berth.state().accounts
  expect([after[first]?.connection.status, after[second]?.connection.status]).toEqual(['offline', 'online'])
})
