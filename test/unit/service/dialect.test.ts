import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createClient, type FullClient } from '#service/client.ts'
import { capabilitiesOf, type Learnt } from '#service/dialect.ts'
import { preferencesAnswer, withChanges } from '#service/preferences.ts'
import { describedCapabilities, publicCapabilities } from '#shared/account/capabilities.ts'
import { json, type Reply, ScriptedService } from './scripted-service.ts'

let service: ScriptedService
let client: FullClient
let learnt: Learnt

beforeAll(async () => {
  service = await ScriptedService.start()
})
afterAll(() => service.stop())
beforeEach(() => {
  learnt = { list: 'v0' }
  const dialect = {
    get: () => learnt,
    set: (all: Learnt) => {
      learnt = all
    },
  }
  client = createClient({ baseUrl: service.baseUrl, key: 'k', retries: 0, dialect })
})

const search = () => client.offers.search({})
const list = () => client.instances.list()
const running = { id: 1, actual_status: 'running' }

test.each<[string, Reply, () => Promise<unknown>]>([
  ['offers with the price of their storage', json({ offers: [{ id: 1, storage_total_cost: 0.1 }] }), search],
  ['records with hourly prices', json({ instances: [{ ...running, search: { totalHour: 1 } }] }), list],
  [
    'records with the price of their disk',
    json({ instances: [{ ...running, storage_total_cost: 1 }] }),
    list,
  ],
])('%s show the public deployment, also after answers without', async (_, shown, ask) => {
  service.otherwise = json({ instances: [running], offers: [{ id: 1, dph_total: 1 }] })
  await search()
  await list()
  expect(capabilitiesOf(learnt)).toEqual(describedCapabilities)
  service.otherwise = shown
  await ask()
  expect(capabilitiesOf(learnt)).toEqual(publicCapabilities)
  service.otherwise = json({ instances: [], offers: [] })
  await search()
  await list()
  expect(capabilitiesOf(learnt)).toEqual(publicCapabilities)
})

test('the newer list shows the public deployment', async () => {
  learnt = {}
  service.otherwise = json({ success: true, instances: [], next_token: null })
  await list()
  expect(learnt).toEqual({ list: 'v1' })
  expect(capabilitiesOf(learnt)).toEqual(publicCapabilities)
})

/** What a later version of a deployment may send. */
const raw = {
  version: 3,
  host: null,
  client: {
    low_credit: { email: true, webhooks: 'daily', sms: true },
    outbid: null,
    digest: 'weekly',
  },
}

const read = (whole: unknown) => preferencesAnswer.read({ notification_preferences: whole })

test('unknown preferences don’t hide known ones', () => {
  expect(preferencesAnswer.problem({ notification_preferences: raw })).toBeUndefined()
  expect(read(raw).known).toEqual({ client: { low_credit: { email: true }, outbid: {} } })
})

test('a change keeps all that it does not name, known or not', () => {
  const changes = {
    client: { low_credit: { email: false }, outbid: { email: true, webhooks: null } },
    host: { machine_offline: { webhooks: true } },
  }
  expect(withChanges(read(raw), changes)).toEqual({
    version: 3,
    host: { machine_offline: { webhooks: true } },
    client: {
      low_credit: { email: false, webhooks: 'daily', sms: true },
      outbid: { email: true, webhooks: null },
      digest: 'weekly',
    },
  })
  expect(withChanges(read(raw), {})).toEqual(raw)
})

test('names that objects have by themselves are names like others', () => {
  const odd: unknown = JSON.parse('{"__proto__":{"low_credit":{"email":true}}}')
  const changed = withChanges(read(odd), { constructor: { low_credit: { email: false } } })
  expect(JSON.stringify(changed)).toBe(
    '{"__proto__":{"low_credit":{"email":true}},"constructor":{"low_credit":{"email":false}}}',
  )
})

test('different forms of an offer read the same', async () => {
  const readOffer = async (offer: object) => {
    service.otherwise = json({ offers: [{ id: 1, ...offer }] })
    return (await search())[0]
  }
  expect(await readOffer({ internet_down_cost_per_tb: 5.12 })).toMatchObject({ inet_down_cost: 0.005 })
  expect(await readOffer({ internet_up_cost_per_tb: 99, inet_up_cost: 0.02 })).toMatchObject({
    inet_up_cost: 0.02,
  })
  expect(await readOffer({ reliability: 0.97 })).toMatchObject({ reliability2: 0.97 })
  expect(await readOffer({ hosting_type: 1 })).toMatchObject({ datacenter: true })
  expect(await readOffer({ hosting_type: 0 })).toMatchObject({ datacenter: false })
  expect(await readOffer({ direct_port_count: -1 })).toMatchObject({ direct_port_count: 0 })
})

test('an instance’s traffic that is priced per TB is read per GB', async () => {
  service.otherwise = json({ instances: [{ ...running, internet_up_cost_per_tb: 10.24 }] })
  expect((await list()).instances[0]).toMatchObject({ inet_up_cost: 0.01 })
})
