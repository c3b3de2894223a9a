import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createGzip, gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseBaseUrl } from '#service/base-url.ts'
import { createClient, type FullClient } from '#service/client.ts'
import { answerBounds } from '#service/http/bounded-answer.ts'
import { failure } from './scripted-service.ts'

/** The text that the endless answer repeats. */
let part: string
let status: number
let zipped: boolean
/** A complete gzipped answer, instead of the endless one. */
let whole: Buffer | undefined
/** Bytes of the answer that were produced, before compression. */
let produced: number
let closed: Promise<unknown>
let client: FullClient

const server = createServer((_, response) => {
  closed = once(response, 'close')
  if (whole) response.writeHead(200, { 'content-encoding': 'gzip' }).end(whole)
  else void send(response)
})

// Else it may close a connection at the moment in which the next call is sent on it.
server.keepAliveTimeout = 0

async function send(response: ServerResponse): Promise<void> {
  response.writeHead(status, zipped ? { 'content-encoding': 'gzip' } : {})
  const gzip = zipped ? createGzip({ level: 1 }) : undefined
  gzip?.pipe(response)
  const out = gzip ?? response
  const chunk = part.repeat(Math.ceil(64_000 / part.length))
  while (!response.destroyed) {
    produced += chunk.length
    if (out.write(chunk)) await new Promise(setImmediate)
    else await Promise.race([once(out, 'drain'), closed])
  }
  gzip?.destroy()
}

beforeEach(async () => {
  part = ''
  status = 200
  zipped = false
  whole = undefined
  produced = 0
  await new Promise<void>(ready => server.listen(0, '127.0.0.1', ready))
  const { port } = server.address() as AddressInfo
  client = createClient({ baseUrl: parseBaseUrl(`http://127.0.0.1:${port}`), key: 'k', retries: 0 })
})
afterEach(async () => {
  server.closeAllConnections()
  await new Promise(done => server.close(done))
})

const MB = 1_000_000
/** Bytes that the system's and the streams' buffers may hold. */
const ON_THE_WAY = 24 * MB

const calls = {
  search: [c => c.offers.search({}), c => c.templates.search({})],
  list: [c => c.instances.list(), c => c.apiKeys.list()],
  single: [c => c.instances.one(1), c => c.account.currentUser()],
} satisfies Record<string, ((client: FullClient) => Promise<unknown>)[]>

test.each(['search', 'list', 'single'] as const)(
  'an answer to a %s is limited by its unpacked size',
  async size => {
    const { bytes } = answerBounds[size]
    const [within, beyond] = [bytes - 1, bytes + 1].map(length => gzipSync(' '.repeat(length), { level: 1 }))
    for (const call of calls[size]) {
      whole = within
      expect(await failure(call(client))).toMatchObject({ code: 'bad_answer' })
      whole = beyond
      const error = await failure(call(client))
      expect(error).toMatchObject({ code: 'too_large', status: 200, ambiguous: false })
      expect(error.detail).toContain(`more than ${bytes / MB} MB`)
    }
  },
)

describe('an answer without end', () => {
  test('is cut off at its limit', async () => {
    part = `"${'x'.repeat(62)}"`
    expect(await failure(client.account.currentUser())).toMatchObject({ code: 'too_large' })
    await closed
    expect(produced).toBeLessThan(answerBounds.single.bytes + ON_THE_WAY)
  })

  test('is cut off even if compressed a thousandfold', async () => {
    zipped = true
    part = ' '.repeat(64_000)
    expect(await failure(client.instances.list())).toMatchObject({ code: 'too_large' })
    await closed
  })
})

describe.each(['{},', '[],', '0,', '1.5,', '"a",', '[', '{"":', '{"a":1},'])(
  'an endless run of %s',
  dense => {
    test('is cut off long before 32 MB, since parsing multiplies it', async () => {
      part = dense
      const error = await failure(client.offers.search({}))
      expect(error).toMatchObject({ code: 'too_large' })
      expect(error.detail).toContain('1.2 million values')
      await closed
      expect(produced).toBeLessThan(8 * MB + ON_THE_WAY)
    })
  },
)

test.each([
  ['keys', (index: number) => `"k${index}":1,`],
  ['records', (index: number) => `{"k${index}":1},`],
])('a run of different %s ends a search, since it would grow when parsed', async (_what, each) => {
  part = Array.from({ length: 30_000 }, (_, index) => each(index)).join('')
  const error = await failure(client.offers.search({}))
  expect(error).toMatchObject({ code: 'too_large' })
  expect(error.detail).toContain('20,000 different fields')
})

test('an endless error answer is judged by its first bytes', async () => {
  status = 503
  part = 'boom '
  expect(await failure(client.instances.list())).toMatchObject({ code: 'server_error', status: 503 })
  await closed
  expect(produced).toBeLessThan(MB + ON_THE_WAY)
})

test('a write whose answer is too large is ambiguous', async () => {
  part = ' '
  const error = await failure(client.offers.createInstance(5, { image: 'a' }))
  expect(error).toMatchObject({ code: 'too_large', ambiguous: true })
})
