import { Duplex, PassThrough } from 'node:stream'
import { beforeEach, expect, test } from 'vitest'
import { type StreamMessage, streamWindow } from '#contract/messages.ts'
import { createStreams, type Streams } from '#core/bridge/streams.ts'
import { flushPromises } from '#test/berth/clocks.ts'

let sent: StreamMessage[]
let room: boolean
let streams: Streams
beforeEach(() => {
  sent = []
  room = true
  streams = createStreams(message => {
    sent.push(message)
    return room
  })
})

/** An endless source of bytes that completes a write only in `take`. */
function endless() {
  const taken: Buffer[] = []
  let take: (() => void) | undefined
  const duplex = new Duplex({
    read() {
      this.push(Buffer.alloc(16_384, 7))
    },
    write(bytes: Buffer, _encoding, done) {
      taken.push(bytes)
      take = done
    },
  })
  return { duplex, taken, take: () => take?.() }
}

const bytesSent = () =>
  sent.reduce((sum, message) => sum + (message.kind === 'data' ? message.bytes.length : 0), 0)

test('a page that never grants gets one window and not a byte more', async () => {
  streams.open(endless().duplex)
  for (let turn = 0; turn < 20; turn += 1) await flushPromises()
  expect(bytesSent()).toBe(streamWindow)
})

test('each grant lets that many bytes through, and all arrive in order', async () => {
  const source = new PassThrough()
  const stream = streams.open(source)
  const bytes = Buffer.from(Array.from({ length: 2 * streamWindow }, (_, index) => index % 251))
  source.end(bytes)
  await flushPromises()
  expect(bytesSent()).toBe(streamWindow)
  while (bytesSent() < bytes.length) {
    streams.receive({ kind: 'grant', stream, bytes: 10_000 })
    await flushPromises()
  }
  const arrived = Buffer.concat(sent.flatMap(message => (message.kind === 'data' ? [message.bytes] : [])))
  expect(arrived.equals(bytes)).toBe(true)
  await flushPromises()
  expect(sent.at(-1)).toEqual({ kind: 'end', stream })
})

test('a full transport pauses a stream until it has drained', async () => {
  room = false
  const stream = streams.open(endless().duplex)
  await flushPromises()
  const first = bytesSent()
  expect(first).toBeLessThanOrEqual(65_536)
  streams.receive({ kind: 'grant', stream, bytes: 1000 })
  await flushPromises()
  expect(bytesSent()).toBe(first)
  room = true
  streams.drained()
  await flushPromises()
  expect(bytesSent()).toBe(streamWindow + 1000)
})

test('bytes from the page are granted again only once they are consumed', async () => {
  const { duplex, taken, take } = endless()
  const stream = streams.open(duplex)
  streams.receive({ kind: 'data', stream, bytes: Buffer.from('ls\n') })
  await flushPromises()
  expect(Buffer.concat(taken).toString()).toBe('ls\n')
  expect(sent.some(({ kind }) => kind === 'grant')).toBe(false)
  take()
  await flushPromises()
  expect(sent.filter(({ kind }) => kind === 'grant')).toEqual([{ kind: 'grant', stream, bytes: 3 }])
})

test('a page that sends more than it was granted loses the stream', async () => {
  const { duplex } = endless()
  const stream = streams.open(duplex)
  streams.receive({ kind: 'data', stream, bytes: Buffer.alloc(streamWindow) })
  await flushPromises()
  expect(duplex.destroyed).toBe(false)
  streams.receive({ kind: 'data', stream, bytes: Buffer.alloc(1) })
  await flushPromises()
  expect(duplex.destroyed).toBe(true)
  expect(sent.at(-1)).toMatchObject({ kind: 'end', stream, problem: { code: 'stream_failed' } })
})

test('a failed stream ends once, with the given reason', async () => {
  const { duplex } = endless()
  const problem = { code: 'connection_lost', message: 'The connection was lost.' }
  const stream = streams.open(duplex, Promise.resolve(problem))
  duplex.destroy(new Error('socket'))
  await flushPromises()
  duplex.emit('error', new Error('again'))
  await flushPromises()
  expect(sent.filter(({ kind }) => kind === 'end')).toEqual([{ kind: 'end', stream, problem }])
})

test('a stream that the page ends is destroyed and sends nothing more', async () => {
  const { duplex } = endless()
  const stream = streams.open(duplex)
  await flushPromises()
  streams.receive({ kind: 'end', stream })
  const before = sent.length
  await flushPromises()
  expect(duplex.destroyed).toBe(true)
  streams.receive({ kind: 'data', stream, bytes: Buffer.from('x') })
  streams.receive({ kind: 'grant', stream, bytes: 5 })
  await flushPromises()
  expect(sent.length).toBe(before)
})

test('closing the page ends its streams, including those opened later', async () => {
  const early = endless().duplex
  streams.open(early)
  streams.close()
  const late = endless().duplex
  streams.open(late)
  expect(early.destroyed).toBe(true)
  expect(late.destroyed).toBe(true)
})
