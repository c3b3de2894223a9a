import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createClient, type FullClient } from '#service/client.ts'
import type { ListVersion } from '#service/dialect.ts'
import { LeapingClock } from '#test/berth/clocks.ts'
import { json, type Reply, raw, ScriptedService } from './scripted-service.ts'

let service: ScriptedService
let client: FullClient
/** The list version learned. */
let learnt: ListVersion | undefined
/** The answer of each list; v1 takes page tokens. */
let v1: (token: string | null) => Reply
let v0: Reply

const none: Reply = json({ success: false, msg: 'nothing here' }, 404)
const deprecated = { success: false, error: 'deprecated_endpoint', msg: 'Use /api/v1/instances/ instead.' }
const whole = (...ids: number[]) => json({ instances_found: ids.length, instances: ids.map(id => ({ id })) })

beforeEach(async () => {
  service = await ScriptedService.start()
  learnt = undefined
  v1 = () => none
  v0 = none
  service.otherwise = (request, ...rest) => {
    const { pathname, searchParams } = new URL(request.url, 'http://service')
    const reply = pathname.startsWith('/api/v1/') ? v1(searchParams.get('after_token')) : v0
    reply(request, ...rest)
  }
  client = createClient({
    baseUrl: service.baseUrl,
    key: 'k',
    clock: new LeapingClock(),
    retries: 0,
    dialect: {
      get: () => ({ list: learnt }),
      set: ({ list }) => {
        learnt = list
      },
    },
  })
})
afterEach(() => service.stop())

/** Cuts `rows` into pages of `size`, with tokens that need encoding. */
function pages(rows: readonly unknown[], size: number, more: object = {}): (token: string | null) => Reply {
  return token => {
    const from = token === null ? 0 : Number(token.slice(2, -1))
    const page = rows.slice(from, from + size)
    const next = from + size < rows.length ? `+/${from + size}=` : null
    return json({
      success: true,
      instances_found: page.length,
      total_instances: rows.length,
      next_token: next,
      instances: page,
      ...more,
    })
  }
}

const many = (count: number) => Array.from({ length: count }, (_, index) => ({ id: index + 1 }))
const asked = () => service.requests.map(({ url }) => url.replace('/instances/', '').replace('/api/', ''))

describe('the version of the list', () => {
  test('is learned once where only v0 exists, and costs no further request', async () => {
    v0 = whole(1, 2)
    expect((await client.instances.list()).instances).toHaveLength(2)
    expect(asked()).toEqual(['v1?limit=25', 'v0'])
    await client.instances.list()
    await client.instances.list()
    expect(asked().slice(2)).toEqual(['v0', 'v0'])
    expect(learnt).toBe('v0')
  })

  test.each<[string, Reply]>([
    ['410', json(deprecated, 410)],
    ['404', none],
    ['405', json({}, 405)],
    ['200 with an error', json(deprecated)],
    ['200 that says no', json({ success: false })],
    ['null for the list', json({ instances: null })],
    ['no list', json({ success: true })],
  ])('is learned again when v0 answers %s', async (_, reply) => {
    learnt = 'v0'
    v0 = reply
    v1 = pages(many(3), 25)
    expect((await client.instances.list()).instances).toHaveLength(3)
    expect(learnt).toBe('v1')
  })

  test('is learned again when v1 is gone', async () => {
    learnt = 'v1'
    v0 = whole(1)
    expect((await client.instances.list()).instances).toHaveLength(1)
    expect(learnt).toBe('v0')
  })

  test('is checked when v0 is empty, if the caller asks for that', async () => {
    learnt = 'v0'
    v0 = whole()
    v1 = pages(many(3), 25)
    expect((await client.instances.list()).instances).toEqual([])
    expect((await client.instances.list({ anew: true })).instances).toHaveLength(3)
    expect(learnt).toBe('v1')
  })

  test.each<[string, Reply, string]>([
    [
      'a wrong key',
      json({ success: false, error: 'auth_error', msg: 'Invalid user key' }, 404),
      'auth_error',
    ],
    ['a key without the permission', json({}, 403), 'forbidden'],
    ['too many requests', raw('API requests too frequent', 429), 'rate_limited'],
    ['a failure of the service', raw('', 500), 'server_error'],
  ])('is not doubted because of %s', async (_, reply, code) => {
    learnt = 'v1'
    v1 = () => reply
    v0 = whole()
    await expect(client.instances.list()).rejects.toMatchObject({ code })
    expect(asked()).toEqual(['v1?limit=25'])
    expect(learnt).toBe('v1')
  })

  test('is an error if there is no list at all, never an empty account', async () => {
    v0 = json(deprecated, 410)
    await expect(client.instances.list()).rejects.toMatchObject({ code: 'deprecated' })
    v0 = json(deprecated)
    await expect(client.instances.list()).rejects.toMatchObject({ code: 'deprecated' })
  })
})

describe('a paged list', () => {
  test('is read to its end', async () => {
    v1 = pages(many(60), 25)
    const { instances, cutShort, counted } = await client.instances.list()
    expect(instances.map(({ id }) => id)).toEqual(many(60).map(({ id }) => id))
    expect(cutShort).toBeUndefined()
    expect(counted).toBe(true)
    expect(asked()).toEqual([
      'v1?limit=25',
      'v1?limit=25&after_token=%2B%2F25%3D',
      'v1?limit=25&after_token=%2B%2F50%3D',
    ])
  })

  test('is given in parts before it ends', async () => {
    v1 = pages(many(60), 25)
    const parts: number[] = []
    await client.instances.list({ onPart: ({ instances }) => void parts.push(instances.length) })
    expect(parts).toEqual([25, 50])
  })

  test('that does not say how many there are is not counted', async () => {
    v1 = () => json({ instances: [{ id: 1 }] })
    expect(await client.instances.list()).toMatchObject({ counted: false, cutShort: undefined })
  })

  test('that repeats a page ends and is marked as cut short', async () => {
    v1 = pages(many(3), 25, { next_token: 'again' })
    const { instances, cutShort } = await client.instances.list()
    expect(instances).toHaveLength(3)
    expect(cutShort).toContain('same page')
    expect(service.requests).toHaveLength(2)
  })

  test.each([
    ['the same instances', 0, 3],
    ['ever more instances', 25, 80],
  ])('that never ends, with %s on each page, is given up', async (_, more, requests) => {
    let page = 0
    v1 = () => {
      const first = ++page * more
      // The id 0 is none, so its record is unreadable.
      const instances = Array.from({ length: 25 }, (_, index) => ({ id: first + index }))
      return json({ instances, next_token: `t${page}` })
    }
    const list = await client.instances.list()
    expect(list.cutShort).toEqual(expect.stringMatching(/^the service/))
    expect([list.instances.length, service.requests.length]).toEqual([more === 0 ? 24 : 2000, requests])
  })

  test('that never ends is given up after 80 pages', async () => {
    let page = 0
    v1 = () => json({ instances: [{ id: ++page }], next_token: `t${page}` })
    const { cutShort } = await client.instances.list()
    expect(cutShort).toContain('80 pages')
    expect(service.requests).toHaveLength(80)
  })

  test('with a failed page is an error, not half a list', async () => {
    v1 = token => (token === null ? pages(many(60), 25)(null) : raw('', 502))
    await expect(client.instances.list()).rejects.toMatchObject({ code: 'server_error' })
  })

  test.each([
    ['pages', () => pages(many(3), 25, { total_instances: 5 })(null), none],
    ['the interface’s list', () => none, json({ instances_found: 5, instances: many(3) })],
  ])('that is shorter than its count is marked as cut short: %s', async (_, first, second) => {
    v1 = first
    v0 = second
    const { instances, cutShort } = await client.instances.list()
    expect(instances).toHaveLength(3)
    expect(cutShort).toContain('5 instances and listed 3')
  })
})

describe('an invalid record', () => {
  test.each<[string, unknown, number | undefined]>([
    ['null', null, undefined],
    ['a number', 7, undefined],
    ['without an id', { actual_status: 'running' }, undefined],
    ['with a status that is none', { id: 9, actual_status: { a: 1 } }, 9],
    ['with an id below one', { id: -5 }, undefined],
    ['with an id of zero', { id: 0 }, undefined],
    ['with an id that is too large', { id: 1e308 }, undefined],
    ['with an id that is not exact', { id: 2 ** 53 }, undefined],
  ])('hides no others and is reported: %s', async (_, record, id) => {
    v0 = json({ instances: [{ id: 1 }, record, { id: 2 }] })
    const { instances, unread, cutShort } = await client.instances.list()
    expect(instances.map(one => one.id)).toEqual([1, 2])
    expect(unread).toEqual([expect.objectContaining({ id })])
    expect(cutShort).toBeUndefined()
  })

  test.each<[string, (c: FullClient) => Promise<unknown[]>, object]>([
    ['offers', c => c.offers.search({}), { offers: [null, { id: 1 }, { id: 'x' }] }],
    ['templates', c => c.templates.search({}), { templates: [{ hash_id: 'h', name: 'n' }, { name: 'm' }] }],
    [
      'webhooks',
      c => c.webhooks.list(),
      { webhooks: [3, { id: 1, name: '', webhook_url: '', event_types: [] }] },
    ],
  ])('hides no others among the %s', async (_, call, answer) => {
    service.otherwise = json(answer)
    expect(await call(client)).toHaveLength(1)
  })

  test('is counted for callers that ask, also when there are none', async () => {
    const lost: number[] = []
    const onUnread = (unread: readonly unknown[]) => void lost.push(unread.length)
    service.otherwise = json({ offers: [null, { id: 1 }, { id: 'x' }] })
    await client.offers.search({}, { onUnread })
    service.otherwise = json([{ key: 'ssh-ed25519 AAAA' }, { id: 7 }])
    await client.account.listSshKeys({ onUnread })
    service.otherwise = json({ templates: [] })
    await client.templates.search({}, { onUnread })
    expect(lost).toEqual([2, 1, 0])
  })

  test.each([
    [{ id: 9, actual_status: 3, intended_status: 'running' }],
    [{ id: 9, actual_status: 3, cur_state: 'running' }],
  ])('is not one whose status is a number: %j', async record => {
    v0 = json({ instances: [record] })
    const { instances, unread } = await client.instances.list()
    expect(instances).toMatchObject([{ id: 9, actual_status: '3' }])
    expect(unread).toEqual([])
  })

  test('is an error if all offers are invalid', async () => {
    service.otherwise = json({ offers: [null, { id: 'x' }] })
    await expect(client.offers.search({})).rejects.toMatchObject({ code: 'bad_answer', path: '$.offers[0]' })
  })

  test('is not a single offer in place of the list', async () => {
    service.otherwise = json({ offers: { id: 4, gpu_name: 'H100' } })
    expect(await client.offers.search({})).toEqual([{ id: 4, gpu_name: 'H100' }])
  })
})

describe('a record', () => {
  /** The instance read from these fields. */
  async function read(fields: object) {
    v0 = json({ instances: [{ id: 1, ...fields }] })
    const { instances } = await client.instances.list()
    return instances[0]
  }

  test.each([
    [
      { dph_total: '0.41', gpu_util: '98', ssh_port: '20001' },
      { dph_total: 0.41, gpu_util: 98, ssh_port: 20_001 },
    ],
    [
      { label: 12, is_bid: 1, host_id: '7' },
      { label: '12', is_bid: true, host_id: 7 },
    ],
    [
      { gpu_util: 'busy', label: null, is_bid: 3 },
      { gpu_util: undefined, label: undefined, is_bid: undefined },
    ],
    [
      { ssh_port: -1, disk_usage: -1, ssh_host: ' ' },
      { ssh_port: undefined, disk_usage: undefined, ssh_host: undefined },
    ],
    [{ ssh_host: 'ssh5.example.com \n' }, { ssh_host: 'ssh5.example.com' }],
    [
      { gpu_util: 0, gpu_temp: 0 },
      { gpu_util: undefined, gpu_temp: undefined },
    ],
    [
      { gpu_util: 0, gpu_temp: 41 },
      { gpu_util: 0, gpu_temp: 41 },
    ],
    [
      { extra_env: { A: 'b', N: 1 } },
      {
        extra_env: [
          ['A', 'b'],
          ['N', '1'],
        ],
      },
    ],
    [
      { extra_env: ['A=b=c', 'D'] },
      {
        extra_env: [
          ['A', 'b=c'],
          ['D', ''],
        ],
      },
    ],
    [{ extra_env: [['A', 'b'], 7, ['C']] }, { extra_env: [['A', 'b']] }],
    [{ ports: [8080] }, { ports: undefined }],
    [
      { ports: { '22/tcp': [{ HostIp: null, HostPort: '20000' }, 4], '8080/tcp': null } },
      { ports: { '22/tcp': [{ HostPort: '20000' }], '8080/tcp': [] } },
    ],
  ])('%j is converted to the promised types', async (fields, given) => {
    expect(await read(fields)).toMatchObject(given)
  })

  test('with NaN or Infinity is still read', async () => {
    v0 = raw('{"instances": [{"id": 1, "gpu_util": NaN, "dph_total": -Infinity, "label": "NaN \\" NaN"}]}')
    const { instances } = await client.instances.list()
    expect(instances[0]).toMatchObject({ id: 1, label: 'NaN " NaN' })
    expect(instances[0]?.gpu_util).toBeUndefined()
  })
})

test('a single instance that is null is gone', async () => {
  v0 = json({ instances: null })
  await expect(client.instances.one(4)).rejects.toMatchObject({ code: 'no_such_instance', status: 404 })
})

test.each([
  { id: 1 },
  { id: 1, email: null, credit: null, ssh_key: '' },
  { id: 1, credit: '4.5', tfa_status: null },
])('the user %j is accepted', async user => {
  service.otherwise = json(user)
  expect(await client.account.currentUser()).toMatchObject({ id: 1 })
})
