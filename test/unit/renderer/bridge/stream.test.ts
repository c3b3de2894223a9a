import { expect, test } from 'vitest'
import { type StreamMessage, streamWindow } from '#contract/messages.ts'
import { PageStream } from '#renderer/bridge/stream.ts'
import type { Problem } from '#shared/problem.ts'

function opened() {
  const sent: StreamMessage[] = []
  return { stream: new PageStream(3, message => sent.push(message)), sent }
}

const bytesOf = (sent: StreamMessage[]) =>
  sent.flatMap(message => (message.kind === 'data' ? [...message.bytes] : []))

test('a write sends only granted bytes, and the rest in order once there’s room', () => {
  const { stream, sent } = opened()
  const whole = Uint8Array.from({ length: streamWindow + 100_000 }, (_, at) => at % 251)
  stream.write(whole)
  expect(bytesOf(sent)).toHaveLength(streamWindow)
  expect(stream.waitingBytes).toBe(100_000)
  stream.take({ kind: 'grant', stream: 3, bytes: 60_000 })
  expect(stream.waitingBytes).toBe(40_000)
  stream.take({ kind: 'grant', stream: 3, bytes: 60_000 })
  expect(bytesOf(sent)).toEqual([...whole])
})

test('room is granted for consumed bytes only', () => {
  const { stream, sent } = opened()
  stream.read(
    () => {},
    () => {},
  )
  stream.take({ kind: 'data', stream: 3, bytes: new Uint8Array(streamWindow) })
  expect(sent).toEqual([])
  let granted = 0
  for (let consumed = 0; consumed < streamWindow; consumed += 1024) stream.consumed(1024)
  for (const message of sent) if (message.kind === 'grant') granted += message.bytes
  expect(granted).toBe(streamWindow)
})

test('data and the end are kept until someone reads', () => {
  const { stream } = opened()
  const problem: Problem = { code: 'ssh_closed', message: 'gone' }
  stream.take({ kind: 'data', stream: 3, bytes: Uint8Array.of(1, 2) })
  stream.take({ kind: 'end', stream: 3, problem })
  const read: number[] = []
  let end: Problem | undefined
  stream.read(
    bytes => read.push(...bytes),
    why => {
      end = why
    },
  )
  expect(read).toEqual([1, 2])
  expect(end).toEqual(problem)
})

test('a closed stream sends nothing more and ends once', () => {
  const { stream, sent } = opened()
  stream.close()
  stream.close()
  stream.write(Uint8Array.of(1))
  expect(sent).toEqual([{ kind: 'end', stream: 3 }])
})
