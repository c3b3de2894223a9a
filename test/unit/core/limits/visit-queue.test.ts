import { expect, test } from 'vitest'
import { VisitQueue } from '#core/limits/visit-queue.ts'
import { flushPromises, HandClock } from '#test/berth/clocks.ts'

const never = new AbortController().signal

test('a visit that schedules no other frees its place for a new one', async () => {
  const clock = new HandClock()
  let there = false
  let visits = 0
  const queue = new VisitQueue(clock, never, async () => {
    if (!there) return undefined
    visits += 1
    return 6
  })
  queue.in(7, 0)
  expect(queue.has(7)).toBe(true)
  await clock.pass(1)
  expect(queue.has(7)).toBe(false)

  there = true
  queue.in(7, 0)
  await clock.pass(6001)
  expect(visits).toBe(2)
  expect(queue.has(7)).toBe(true)
})

test('visits to one instance run one at a time, and the last one schedules the next', async () => {
  const clock = new HandClock()
  const under: (() => void)[] = []
  let visits = 0
  const queue = new VisitQueue(clock, never, async () => {
    visits += 1
    await new Promise<void>(resolve => under.push(resolve))
    return 6
  })
  const [first, second] = [queue.now(7), queue.now(7)]
  await flushPromises()
  expect(visits).toBe(1)
  under[0]?.()
  await first
  await flushPromises()
  expect([visits, queue.has(7)]).toEqual([2, true])
  under[1]?.()
  await second
  expect(clock.waiting).toEqual([6000])
})

test('a failed visit is retried after growing pauses until one succeeds', async () => {
  const clock = new HandClock()
  let fails = 2
  const queue = new VisitQueue(clock, never, async () => {
    if (fails === 0) return 6
    fails -= 1
    throw new Error('not reached')
  })
  await expect(queue.now(7)).rejects.toThrow('not reached')
  expect(clock.waiting).toEqual([5000])
  await clock.pass(5000)
  expect(clock.waiting).toEqual([15_000])
  await clock.pass(15_000)
  expect(clock.waiting).toEqual([6000])
})
