import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseBaseUrl } from '#service/base-url.ts'
import { type ClientOptions, createClient } from '#service/client.ts'
import type { AnswerTime } from '#service/http/http-request.ts'
import type { CallOptions } from '#service/http/operation.ts'
import { HandClock, LeapingClock } from '#test/berth/clocks.ts'
import {
  clientOf,
  failure,
  hang,
  hangInBody,
  json,
  raw,
  reset,
  resetInBody,
  ScriptedService,
} from './scripted-service.ts'

let service: ScriptedService
let clock: LeapingClock

beforeEach(async () => {
  service = await ScriptedService.start()
  clock = new LeapingClock()
})
afterEach(() => service.stop())

const client = (options?: Partial<ClientOptions>) => clientOf(service, clock, options)

const noInstances = json({ instances: [], instances_found: 0 })

describe('a read', () => {
  test.each([
    ['a reset', reset],
    ['a reset in the middle of the answer', resetInBody],
    ['a 500', raw('boom', 500)],
    ['a 503', raw('', 503)],
    ['a 429', json({ detail: 'slow down' }, 429)],
  ])('is repeated after %s', async (_, reply) => {
    service.script = [reply, reply, noInstances]
    expect((await client().instances.list()).instances).toEqual([])
    expect(service.requests).toHaveLength(3)
  })

  test('waits longer each time, with jitter, and gives up after three repeats', async () => {
    service.otherwise = reset
    const error = await failure(client({ random: () => 0 }).instances.list())
    expect(error).toMatchObject({ code: 'connection_lost', status: 0, ambiguous: false })
    expect(clock.waits).toEqual([150, 300, 600])
    expect(service.requests).toHaveLength(4)
  })

  test('is not repeated when the caller says so', async () => {
    service.otherwise = reset
    await failure(client().instances.list({ retries: 0 }))
    expect(service.requests).toHaveLength(1)
  })

  test('is not repeated when the service refused it', async () => {
    service.otherwise = json({ success: false, error: 'invalid_args', msg: 'no' }, 400)
    expect(await failure(client().offers.search({}))).toMatchObject({ code: 'invalid_args', status: 400 })
    expect(service.requests).toHaveLength(1)
  })

  test('waits as long as Retry-After says', async () => {
    service.script = [json({ detail: 'x' }, 429, { 'retry-after': '7' })]
    service.otherwise = noInstances
    const told: number[] = []
    await client({ onTooFast: seconds => told.push(seconds) }).instances.list()
    expect(clock.waits.reduce((sum, sleep) => sum + sleep, 0)).toBeGreaterThanOrEqual(7000)
    expect(told).toEqual([7])
  })

  test('fails instead when Retry-After is too long', async () => {
    service.otherwise = json({ detail: 'x' }, 429, { 'retry-after': '3600' })
    const calls = client()
    expect(await failure(calls.instances.list())).toMatchObject({ code: 'rate_limited', retryAfter: 3600 })
    expect(service.requests).toHaveLength(1)
    // The next call isn't held back for longer than a minute.
    service.otherwise = noInstances
    await calls.instances.list()
    expect(clock.waits.reduce((sum, sleep) => sum + sleep, 0)).toBeLessThan(62_000)
  })

  test('reads a date in Retry-After by the service’s own clock', async () => {
    const date = 'Mon, 01 Jan 2035 00:00:00 GMT'
    service.otherwise = json({ detail: 'x' }, 429, { date, 'retry-after': 'Mon, 01 Jan 2035 00:02:00 GMT' })
    expect(await failure(client().instances.list())).toMatchObject({ retryAfter: 120 })
  })
})

describe('a rate limit that is not in section 8', () => {
  test('is learned from the 429 and kept from then on', async () => {
    let tokens = 2
    let at = 0
    service.otherwise = (request, response, rawRequest) => {
      tokens = Math.min(2, tokens + ((clock.now() - at) / 1000) * 2)
      at = clock.now()
      const allowed = tokens >= 1
      if (allowed) tokens -= 1
      const reply = allowed ? noInstances : json({ detail: 'too frequent: endpoint threshold=2.0' }, 429)
      reply(request, response, rawRequest)
    }
    const calls = client()
    for (let call = 0; call < 20; call++) await calls.instances.list()
    expect(service.requests).toHaveLength(21)
  })
})

describe('creating an instance', () => {
  /** The error of creating one, and how often it was requested. */
  async function refused(options?: CallOptions) {
    const error = await failure(client().offers.createInstance(5, { image: 'a' }, options))
    return { error, sent: service.requests.length }
  }

  test('gives its id as a number, also where the answer has it as text or has no key', async () => {
    service.otherwise = json({ success: true, new_contract: '5001', instance_api_key: null })
    const created = await client().offers.createInstance(5, { image: 'a' })
    expect(created).toMatchObject({ new_contract: 5001, instance_api_key: undefined })
  })

  test.each([
    ['a reset', reset, { code: 'connection_lost', status: 0 }],
    ['a broken answer', raw('{"new_contr'), { code: 'bad_answer', status: 200 }],
    ['an answer of the wrong shape', json({ success: true, new_contract: 'x' }), { path: '$.new_contract' }],
    ['a 500', raw('boom', 500), { code: 'server_error', status: 500 }],
    ['a 502', raw('', 502), { code: 'server_error', status: 502 }],
    ['a page with 404', raw('<h1>Not Found</h1>', 404), { code: 'not_found', status: 404 }],
  ])('is sent once and is ambiguous after %s', async (_, reply, parts) => {
    service.otherwise = reply
    expect(await refused()).toMatchObject({ error: { ...parts, ambiguous: true }, sent: 1 })
  })

  test.each([
    { success: false, msg: 'x' },
    { success: false, error: 'insufficient_credit' },
    { success: false, new_contract: null },
    { success: false, new_contract: 0 },
    { success: false, new_contract: '' },
  ])('may have taken effect although a 200 refuses it: %j', async body => {
    service.otherwise = json(body)
    const { error, sent } = await refused()
    expect(error).toMatchObject({ status: 200, ambiguous: true })
    expect(error.code).not.toBe('bad_answer')
    expect(sent).toBe(1)
  })

  test.each([
    [200, { success: false, new_contract: 12345, instance_api_key: 'k' }],
    [200, { success: false, new_contract: '12345', msg: 'state change queued', instance_api_key: 'k' }],
    [200, { success: 0, new_contract: 12345, instance_api_key: 'k' }],
    [202, { success: false, error: 'resources_unavailable', new_contract: 12345, instance_api_key: 'k' }],
    [400, { success: false, new_contract: 12345, instance_api_key: 'k' }],
  ])('has taken effect where a %d names its instance: %j', async (status, body) => {
    service.otherwise = json(body, status)
    const created = await client().offers.createInstance(5, { image: 'a' })
    expect(created).toMatchObject({ success: false, new_contract: 12345, instance_api_key: 'k' })
  })

  test('is sent once and is ambiguous when no answer comes in time', async () => {
    service.otherwise = hang
    expect(await refused({ timeout: 2000 })).toMatchObject({
      error: { code: 'timeout', ambiguous: true },
      sent: 1,
    })
  })

  test('is sent once and is ambiguous when it is cancelled on its way', async () => {
    const cancel = new AbortController()
    service.otherwise = () => cancel.abort()
    expect(await refused({ signal: cancel.signal })).toMatchObject({
      error: { code: 'aborted', ambiguous: true },
      sent: 1,
    })
  })

  test.each([
    [400, { error: 'invalid_args', msg: 'x' }, 'invalid_args'],
    [401, { msg: 'x' }, 'unauthorized'],
    [403, {}, 'forbidden'],
    [404, { error: 'no_such_ask', msg: 'gone' }, 'not_found'],
    [410, {}, 'refused'],
    [429, { detail: 'x' }, 'rate_limited'],
  ])('is sent once and is not ambiguous after a %d', async (status, body, code) => {
    service.otherwise = json(body, status)
    expect(await refused()).toMatchObject({ error: { code, status, ambiguous: false }, sent: 1 })
  })

  test('is not ambiguous when the service is unreachable or it was never sent', async () => {
    const gone = await ScriptedService.start()
    await gone.stop()
    for (const baseUrl of [
      gone.baseUrl,
      parseBaseUrl('http://127.0.0.1:22'),
      parseBaseUrl('https://no.invalid'),
    ]) {
      const offline = await failure(client({ baseUrl }).offers.createInstance(5, { image: 'a' }))
      expect(offline).toMatchObject({ code: 'offline', ambiguous: false })
    }
    const signal = AbortSignal.abort()
    const aborted = await failure(client().offers.createInstance(5, { image: 'a' }, { signal }))
    expect(aborted).toMatchObject({ code: 'aborted', ambiguous: false })
    expect(service.requests).toHaveLength(0)
  })
})

describe('a write that may be repeated', () => {
  test('is repeated until it succeeds', async () => {
    service.script = [reset, raw('', 500)]
    service.otherwise = json({ success: true })
    await client().instances.stop(3)
    expect(service.requests).toHaveLength(3)
  })

  test('stays ambiguous when its repeat was refused', async () => {
    service.script = [reset]
    service.otherwise = json({ error: 'invalid_args' }, 400)
    const error = await failure(client().instances.changeBid(3, 0.2))
    expect(error).toMatchObject({ code: 'invalid_args', ambiguous: true })
    expect(error.message).not.toBe('')
  })

  test('destroying counts as done when the instance is gone after a lost answer', async () => {
    service.script = [reset]
    service.otherwise = json({ error: 'no_such_instance' }, 404)
    await client().instances.destroy(3)
  })

  test('destroying an instance that never existed is an error', async () => {
    service.otherwise = json({ error: 'no_such_instance' }, 404)
    expect(await failure(client().instances.destroy(3))).toMatchObject({ code: 'no_such_instance' })
  })

  test('is not believed without the promised success', async () => {
    service.otherwise = json({})
    const error = await failure(client().instances.destroy(3))
    expect(error).toMatchObject({ code: 'bad_answer', path: '$.success', ambiguous: true })
  })
})

describe('time', () => {
  test('a service that never answers, or stops in the middle of its answer, is given up', async () => {
    service.script = [hang, hangInBody]
    const given = () => failure(client({ timeout: 2000 }).instances.list())
    const givenUp = { code: 'timeout', status: 0 }
    expect(await Promise.all([given(), given()])).toMatchObject([givenUp, givenUp])
    expect(service.requests).toHaveLength(2)
  })

  test('a call can be cancelled while it waits for its repeat', async () => {
    const cancel = new AbortController()
    service.otherwise = (...all) => {
      raw('', 500)(...all)
      setImmediate(() => cancel.abort())
    }
    const slow = createClient({ baseUrl: service.baseUrl, key: 'k' })
    const error = await failure(slow.instances.list({ signal: cancel.signal }))
    expect(error).toMatchObject({ code: 'aborted', ambiguous: false })
  })

  test('a call cancelled in the queue is not sent', async () => {
    service.otherwise = json({ apikeys: [] })
    const slow = createClient({ baseUrl: service.baseUrl, key: 'k' })
    await slow.apiKeys.list()
    const cancel = new AbortController()
    const queued = slow.apiKeys.list({ signal: cancel.signal })
    cancel.abort()
    expect(await failure(queued)).toMatchObject({ code: 'aborted' })
    expect(service.requests).toHaveLength(1)
  })

  test('a withdrawn call is not sent and not repeated, but read where it was sent', async () => {
    const withdraw = new AbortController()
    service.script = [json({ apikeys: [] }), raw('', 500)]
    service.otherwise = (...all) => {
      withdraw.abort()
      json({ instances: [], instances_found: 0 })(...all)
    }
    // Its pauses last until the calls are withdrawn.
    const slow = createClient({ baseUrl: service.baseUrl, key: 'k', clock: new HandClock() })
    await slow.apiKeys.list()
    const { signal: withdrawn } = withdraw
    const waiting = [
      failure(slow.apiKeys.list({ withdrawn })),
      failure(slow.templates.search({}, { withdrawn })),
    ]
    await expect.poll(() => service.requests.length).toBe(2)
    expect(await client().instances.list({ withdrawn })).toMatchObject({ instances: [] })
    expect(await Promise.all(waiting)).toMatchObject([{ code: 'aborted' }, { code: 'aborted' }])
    expect(service.requests).toHaveLength(3)
  })

  test('every answer gives the service’s time, also a failed one', async () => {
    const heard: AnswerTime[] = []
    const date = 'Sat, 01 Jan 2033 00:00:00 GMT'
    service.script = [raw('', 500, { date })]
    service.otherwise = json({ instances: [] }, 200, { date })
    await client({ onAnswer: time => heard.push(time) }).instances.list()
    expect(heard.map(time => time.serverTime)).toEqual([1_988_150_400, 1_988_150_400])
    expect(heard.every(time => time.roundTrip >= 0)).toBe(true)
  })
})
