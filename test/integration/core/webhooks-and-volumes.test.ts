import { afterEach, expect, test } from 'vitest'
import { publicProfile } from '#simulator/deployment.ts'
import { everyFile, requestCheapest } from '#test/berth/steps.ts'
import { type BerthUnderTest, createWorld, type World } from '#test/berth/world.ts'

let world: World
let under: BerthUnderTest
afterEach(() => world.close())

async function begin(deployment = publicProfile): Promise<void> {
  world = await createWorld({ deployment, limits: false })
  under = await world.startConnected()
}

const fields = { name: 'pager', url: 'https://example.com/hook', events: ['client:outbid'] }

test('a webhook’s secret is only in the answers to its creation and its rotation', async () => {
  await begin()
  const made = await under.run('createWebhook', { fields })
  const { id } = made.webhook
  const rotated = await under.run('rotateWebhookSecret', { id })
  expect(made.secret).toMatch(/\S{16,}/)
  expect(rotated.secret).toMatch(/\S{16,}/)
  expect(rotated.secret).not.toBe(made.secret)
  const listed = await under.run('listWebhooks', {})
  const { webhook } = await under.run('updateWebhook', { id, changes: { name: 'siren' } })
  const state = JSON.stringify(under.berth.state())
  await under.close()
  const files = await everyFile(world)
  const everywhere = [JSON.stringify([listed, webhook, made.webhook]), state, ...files.values()]
  for (const secret of [made.secret, rotated.secret])
    expect(
      everywhere.filter(text => text.includes(secret ?? '')),
      'places with the secret',
    ).toEqual([])
})

test('a webhook is tested, and one too many is refused in the service’s words', async () => {
  await begin()
  for (let count = 0; count < 4; count += 1) await under.run('createWebhook', { fields })
  const [first] = await under.run('listWebhooks', {})
  await under.run('testWebhook', { id: first?.id ?? 0 })
  const tests = world.requests('POST', '/test/')
  expect(tests).toMatchObject([{ path: `/api/v0/webhooks/${first?.id}/test/`, status: 200 }])
  await expect(under.run('createWebhook', { fields })).rejects.toMatchObject({
    problem: { facts: { 'The service says': 'There are at most 4 webhooks.' } },
  })
})

test('a webhook needs no name, is listed without one, and is deleted', async () => {
  await begin()
  const { url, events } = fields
  await under.run('createWebhook', { fields: { url, events } })
  const [webhook] = await under.run('listWebhooks', {})
  expect(webhook).toMatchObject({ url, events })
  expect(webhook?.name).toBeUndefined()
  await under.run('deleteWebhook', { id: webhook?.id ?? 0 })
  expect(await under.run('listWebhooks', {})).toEqual([])
})

test('volumes are listed with their instances, deleted only once unused, and made where one rents', async () => {
  await begin()
  expect(await under.run('listVolumes', {})).toEqual([])
  const request = await requestCheapest(under)
  const { offers } = await world.api<{ offers: { id: number; machine_id: number }[] }>(
    'POST',
    '/api/v0/volumes/search/',
    {
      limit: 1000,
    },
  )
  const { offers: found } = await under.run('searchOffers', {
    query: { type: 'on-demand', verifiedOnly: false, storage: 20, limit: 50 },
  })
  const machine = found.find(({ id }) => id === request.offer)?.machineId
  const ask = offers.find(({ machine_id }) => machine_id === machine)
  await world.api('PUT', '/api/v0/volumes/', { id: ask?.id, size: 15, name: 'datasets' })
  const [volume] = await under.run('listVolumes', {})
  expect(volume).toMatchObject({ label: 'datasets', size: 15, machineId: machine, instances: [] })
  expect(volume?.costPerHour).toBeGreaterThan(0)

  const id = volume?.id ?? 0
  await under.run('rent', {
    request: { ...request, volume: { create: false, volume: id, mountPath: '/data' } },
  })
  await under.until(() => Object.keys(under.account().instances).length === 1)
  const [instance] = Object.values(under.account().instances)
  expect(await under.run('listVolumes', {})).toMatchObject([{ id, instances: [instance?.id] }])
  const seesVolumes = async (perHour = 0) => {
    await under.until(() => under.account().volumes !== undefined)
    const { volumes, spendPerHour, instances } = under.account()
    expect(volumes).toMatchObject({ count: 1, perHour, names: [{ name: 'datasets' }] })
    const costs = Object.values(instances).map(({ costPerHour }) => costPerHour)
    expect(spendPerHour).toBe(costs.reduce((sum, cost) => sum + cost, volumes?.perHour ?? 0))
  }
  await seesVolumes(volume?.costPerHour)
  await expect(under.run('deleteVolume', { id })).rejects.toMatchObject({
    problem: { facts: { 'The service says': expect.stringContaining('in use') } },
  })
  await under.run('destroyInstance', { instance: instance?.id ?? 0 })
  // What was last seen of the spending has them already.
  under = await world.restart(under)
  await seesVolumes(volume?.costPerHour)
  await under.run('deleteVolume', { id })
  expect(await under.run('listVolumes', {})).toEqual([])
  await under.until(() => under.account().volumes === undefined)
  expect(under.account().spendPerHour).toBe(0)

  const wanted = { create: true, name: 'data', size: 12, mountPath: '/data' } as const
  await requestCheapest(under)
  await under.run('rent', { request: { ...request, volume: wanted } })
  await under.until(() => Object.keys(under.account().instances).length === 1)
  expect(await under.run('listVolumes', {})).toMatchObject([{ label: 'data', size: 12, machineId: machine }])
})

test('rotating or testing a webhook and listing volumes fail where not supported', async () => {
  world = await createWorld()
  under = await world.startConnected()
  const made = await under.run('createWebhook', { fields })
  expect(made).not.toHaveProperty('secret', expect.anything())
  const { id } = made.webhook
  const lacking = { problem: { code: 'not_supported' } }
  await expect(under.run('rotateWebhookSecret', { id })).rejects.toMatchObject(lacking)
  await expect(under.run('testWebhook', { id })).rejects.toMatchObject(lacking)
  await expect(under.run('listVolumes', {})).rejects.toMatchObject(lacking)
})
