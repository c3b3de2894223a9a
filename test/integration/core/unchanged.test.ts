import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { MainMessage } from '#contract/messages.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'

/** A service that answers the same until `instances` is changed. */
let server: Server
let instances: Record<string, unknown>[]
let world: World
beforeEach(async () => {
  world = await createWorld()
  instances = Array.from({ length: 1000 }, (_, index) => ({
    id: index + 1,
    actual_status: 'running',
    intended_status: 'running',
    label: `train ${index}`,
    gpu_name: 'RTX 4090',
    num_gpus: 1,
    gpu_util: 50,
    dph_total: 0.4,
    dph_base: 0.35,
    start_date: 1_700_000_000,
  }))
  server = createServer(({ url }, response) => {
    const user = { id: 7, email: 'a@b.example', credit: 50_000, ssh_key: '', tfa_status: 'disabled' }
    const list = { instances_found: instances.length, instances }
    response.setHeader('content-type', 'application/json')
    response.setHeader('date', new Date(world.platform.clock.now()).toUTCString())
    response.end(JSON.stringify(url?.includes('/instances/') ? list : user))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  await world.close()
  server.closeAllConnections()
  server.close()
})

async function connected(): Promise<{ under: BerthUnderTest; sent: MainMessage[] }> {
  const under = await world.start()
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await under.run('connectAccount', { baseUrl, key: 'some-key' })
  await under.until(() => Object.keys(under.account().instances).length === instances.length)
  await under.run('refresh', {})
  const sent: MainMessage[] = []
  const page = under.berth.connectPage(message => {
    sent.push(message)
    return true
  })
  page.receive({ kind: 'sync' })
  sent.length = 0
  return { under, sent }
}

test('polling a thousand unchanged instances sends nothing and leaves State unchanged', async () => {
  const { under, sent } = await connected()
  const before = under.berth.state()
  for (let poll = 0; poll < 20; poll += 1) await under.run('refresh', {})
  expect(sent).toEqual([])
  expect(under.berth.state()).toBe(before)
})
