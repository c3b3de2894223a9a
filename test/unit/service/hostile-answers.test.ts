import { Readable } from 'node:stream'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { parseBaseUrl } from '#service/base-url.ts'
import { createClient } from '#service/client.ts'
import { type WireAnswer, wire } from '#service/http/http-request.ts'
import { identify } from '#service/identify.ts'
import { LeapingClock } from '#test/berth/clocks.ts'
import { type Row, rows } from './right-answers.ts'
import { isExpected, placesIn, spoiled, strayIn } from './spoiling.ts'

const baseUrl = parseBaseUrl('http://127.0.0.1:1')
const client = createClient({ baseUrl, key: 'k', retries: 0, clock: new LeapingClock() })
/** The answer to every request, without a connection, as there are thousands. */
let answer: () => WireAnswer

beforeAll(() => void vi.spyOn(wire, 'send').mockImplementation(async () => answer()))
afterAll(() => void vi.restoreAllMocks())

function answerWith(body: unknown, status = 200): void {
  answer = answering(JSON.stringify(body), status)
}

function answering(text: string, status = 200, type = 'application/json'): () => WireAnswer {
  return () => ({ status, headers: { 'content-type': type }, body: Readable.from([Buffer.from(text)]) })
}

/** Any JSON, and JSON that resembles the interface's answers. */
const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constant(null), fc.integer(), fc.boolean())
const wordOf = (words: string) => fc.constantFrom(...words.split(' '))
const record = fc.dictionary(
  fc.oneof(
    wordOf('id hash_id name success new_contract actual_status ssh_port dph_total ports msg email credit'),
    wordOf('tfa_status error detail secret method __proto__ length toString'),
  ),
  value,
)
const body = fc.oneof(
  fc.jsonValue(),
  record,
  fc.array(record),
  fc.dictionary(
    wordOf('instances offers apikeys templates template webhook methods success'),
    fc.oneof(value, record, fc.array(record)),
  ),
)

/** A call's result, or the error it threw. */
async function outcome(call: Row[3]): Promise<{ given?: unknown; error?: unknown }> {
  return await call(client).then(
    given => ({ given }),
    (error: unknown) => ({ error }),
  )
}

test.each(rows)(
  '%s: any JSON is a value or a ServiceError, never another exception',
  async (_request, _sent, _answer, call) => {
    await fc.assert(
      fc.asyncProperty(body, fc.constantFrom(200, 200, 200, 400, 404, 429, 500), async (hostile, status) => {
        answerWith(hostile, status)
        expect((await outcome(call)).error ?? 'none').toSatisfy(isExpected)
      }),
      { numRuns: 20 },
    )
  },
)

test.each(rows)(
  '%s: its right answer with one value spoiled is refused, or read without that value',
  async (_request, _sent, right, call, gives) => {
    const places = placesIn(right)
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), fc.option(value), async (place, instead) => {
        answerWith(spoiled(right, place, instead ?? undefined))
        const { error, given } = await outcome(call)
        expect(error ?? 'none').toSatisfy(isExpected)
        if (error === undefined) expect(strayIn(gives, given)).toBeUndefined()
      }),
      { numRuns: 20 },
    )
  },
)

test('every method of the client is tested here', () => {
  const called = new Set<string>()
  const recorder = new Proxy(client, {
    get: (_client, group) =>
      new Proxy(
        {},
        { get: (_group, method) => async () => called.add(`${String(group)}.${String(method)}`) },
      ),
  })
  for (const [, , , call] of rows) void call(recorder)
  const all = Object.entries(client).flatMap(([group, methods]) =>
    Object.keys(methods).map(method => `${group}.${method}`),
  )
  expect([...called].sort()).toEqual(all.sort())
})

test('an instance that is accepted has its promised fields in their types', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(record), async rows => {
      answerWith({ instances: rows })
      const list = await client.instances.list().then(
        ({ instances }) => instances,
        () => [],
      )
      for (const instance of list) {
        expect(Number.isInteger(instance.id)).toBe(true)
        expect(['number', 'undefined']).toContain(typeof instance.dph_total)
        expect(['object', 'undefined']).toContain(typeof instance.ports)
      }
    }),
    { numRuns: 50 },
  )
})

const user = { id: 1, email: 'a@b.c', credit: 1.5, tfa_status: 'disabled' }

test.each([
  ['a web page', answering('<!doctype html><title>Hello</title>', 200, 'text/html')],
  ['a web page that says 404', answering('<html>', 404, 'text/html')],
  ['JSON of another kind', answering('{"hello":"world"}')],
  ['a list', answering(JSON.stringify([user]))],
  ['nothing', answering('')],
])('%s is not this service', async (_, reply) => {
  answer = reply
  await expect(identify(client)).rejects.toMatchObject({ code: 'not_this_service' })
})

test('a user with further fields is this service', async () => {
  answerWith({ ...user, more: 1, ssh_key: null })
  expect(await identify(client)).toMatchObject({ ...user, more: 1 })
})

test('a byte order mark before the answer is skipped', async () => {
  answer = answering(`\uFEFF${JSON.stringify(user)}`)
  expect(await identify(client)).toMatchObject(user)
})

test('a wrong key is distinguished from a wrong address', async () => {
  answerWith({ success: false, msg: 'no' }, 401)
  await expect(identify(client)).rejects.toMatchObject({ code: 'unauthorized', detail: 'no' })
})

test.each(rows)(
  '%s: no number of its answer is so large that what follows from it could not be stored',
  async (_request, _sent, right, call) => {
    const places = placesIn(right)
    const huge = fc.constantFrom('1e300', '-1E+300', '1e999', '9007199254740993', '-12345678901234567890')
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), huge, async (place, digits) => {
        answer = answering(JSON.stringify(spoiled(right, place, 'HUGE')).replace('"HUGE"', digits))
        const { error, given } = await outcome(call)
        expect(error ?? 'none').toSatisfy(isExpected)
        expect(numbersIn(given).filter(number => Math.abs(number) > Number.MAX_SAFE_INTEGER)).toEqual([])
      }),
      { numRuns: 20 },
    )
  },
)

function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : []
}
