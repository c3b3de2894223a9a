import { inspect } from 'node:util'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createClient, type FullClient } from '#service/client.ts'
import type { Learnt } from '#service/dialect.ts'
import { cleanDetail } from '#service/http/failure.ts'
import { ServiceError } from '#service/service-error.ts'
import { anyCharacter } from '../any-character.ts'
import { hang, json, type Reply, raw, reset, ScriptedService } from './scripted-service.ts'

const key = 'key-4f1d9b7e2a'
const secret = 'hunter2-hunter2'
let service: ScriptedService

beforeAll(async () => {
  service = await ScriptedService.start()
})
afterAll(() => service.stop())

/** A service that echoes everything it was sent. */
function echo(status: number, body: (everything: string) => unknown): Reply {
  return (seen, ...rest) =>
    json(body(`${JSON.stringify(seen.headers)} ${seen.url} ${seen.body}`), status)(seen, ...rest)
}

const replies: Record<string, Reply> = {
  'an error with a msg': echo(400, msg => ({ success: false, error: 'invalid_args', msg })),
  'an unknown error code': echo(418, error => ({ error, msg: error })),
  'a rate limit': echo(429, detail => ({ detail })),
  'a wrong shape': echo(200, words => ({ [words]: words })),
  'a list that is none': echo(200, words => ({ instances: words, success: words })),
  'a redirect': raw('', 302, { location: `http://127.0.0.1:9/${key}` }),
  'no JSON': (seen, ...rest) => raw(seen.headers.authorization ?? '')(seen, ...rest),
  'a reset': reset,
  'no answer': hang,
}

const registry = { server: 'ghcr.io', user: 'ada', token: secret }

/** `timeout`: milliseconds, short where an answer never comes. */
function clientOf(learnt: Learnt, timeout = 100): FullClient {
  const dialect = { get: () => learnt, set: () => undefined }
  return createClient({ baseUrl: service.baseUrl, key, timeout, retries: 0, dialect })
}

const calls: Record<string, (client: FullClient) => Promise<unknown>> = {
  listing: client => client.instances.list(),
  renting: client => client.offers.createInstance(1, { registry, env: { TOKEN: secret }, label: 'x' }),
  'renting a private image of the public deployment': () =>
    clientOf({ pricesByPart: true }).offers.createInstance(1, { registry }),
  'a cloud copy': client =>
    client.transfers.cloudSync({
      instance_id: '1',
      src: 'a',
      dst: 'b',
      selected: 'c',
      transfer: 'd',
      flags: [],
      api_key: secret,
    }),
  'a login': client => client.twoFactor.login({ code: secret, secret, backup_code: secret }),
}

test('the key is in nothing that an answer brings', async () => {
  const record = { id: 4, actual_status: 'running', label: `k ${key} up`, status_msg: `auth Bearer ${key}` }
  service.otherwise = json({ success: true, instances: [record] })
  const listed = await clientOf({}, 60_000).instances.list()
  expect(JSON.stringify(listed)).not.toContain(key)
  expect(listed.instances).toMatchObject([{ label: 'k •••••• up' }])
})

test.each(
  Object.entries(replies).flatMap(([reply, answer]) =>
    Object.entries(calls).map(([name, call]) => ({ reply, answer, name, call })),
  ),
)('no secret is in the error when $name meets $reply', async ({ answer, call }) => {
  service.otherwise = answer
  const error = await call(clientOf({})).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(ServiceError)
  const everything = inspect(error, { depth: 20, showHidden: true }) + JSON.stringify(error) + String(error)
  expect(everything).not.toContain(key)
  expect(everything).not.toContain(secret)
  expect(error).not.toHaveProperty('cause')
})

test.each(['', 'two words', 'line\nbreak', 'schlüssel', 'nul\0'])('%j is refused as a key, unquoted', bad => {
  const make = () => createClient({ baseUrl: service.baseUrl, key: bad })
  expect(make).toThrow(expect.objectContaining({ code: 'bad_key' }))
  if (bad !== '') expect(make).not.toThrow(new RegExp(bad))
})

test('the service’s messages become short plain text', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 2000 }), text => {
      const clean = cleanDetail(text, [])
      expect(clean.length).toBeLessThanOrEqual(300)
      expect(clean).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u)
    }),
  )
  expect(cleanDetail('a\u001b[31mred\u202e\r\n b', [])).toBe('a [31mred b')
})
