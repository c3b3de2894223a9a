import { expect, test } from 'vitest'
import { markLabel, markVariable, plainLabel, rentalOf } from '#core/instances/mark.ts'
import { findLost, isListWhole, lateComers } from '#core/renting/find-lost.ts'
import type { Attempt } from '#core/renting/rental.ts'
import type { Instance } from '#service/instances.ts'

const mark = 'r0123456789abcdef'
const other = 'rfedcba9876543210'
const attempt = { mark, before: [1, 2], startedAt: 1000 }
const find = (records: Instance[], taken: number[] = []) => findLost(attempt, true, records, new Set(taken))

test('an instance is found by the mark in its label or its environment', () => {
  expect(find([{ id: 1 }, { id: 9, label: `llama berth:${mark}` }])).toEqual({ found: 9, surplus: [] })
  expect(find([{ id: 9, label: 'renamed', extra_env: [[markVariable, mark]] }])).toEqual({
    found: 9,
    surplus: [],
  })
})

test('of two instances with one mark the older is taken and the other is surplus', () => {
  const marked = { label: `berth:${mark}` }
  expect(
    find([
      { id: 12, ...marked },
      { id: 9, ...marked },
    ]),
  ).toEqual({ found: 9, surplus: [12] })
})

test('an instance with another mark, or visibly none, is somebody else’s', () => {
  const strangers = [
    { id: 5, label: `berth:${other}` },
    { id: 6, label: 'made in the console' },
    { id: 7, extra_env: [] },
  ]
  expect(find(strangers)).toEqual({ found: undefined })
})

test('without visible marks the only new instance is taken, and several are unclear', () => {
  expect(find([{ id: 1 }, { id: 2 }, { id: 9 }])).toEqual({ found: 9, guessed: true, surplus: [] })
  expect(find([{ id: 1 }, { id: 9 }, { id: 10 }])).toEqual({ unclear: [9, 10] })
  expect(find([{ id: 9 }, { id: 10 }], [10])).toEqual({ found: 9, guessed: true, surplus: [] })
  expect(find([{ id: 1 }, { id: 2 }])).toEqual({ found: undefined })
})

test('an instance clearly older than the request is not taken without asking', () => {
  expect(find([{ id: 9, start_date: 900 }])).toEqual({ unclear: [9] })
  expect(find([{ id: 9, start_date: 990 }])).toEqual({ found: 9, guessed: true, surplus: [] })
})

test('the instance of a rental with retries is never guessed', () => {
  expect(findLost(attempt, false, [{ id: 9 }], new Set())).toEqual({ unclear: [9] })
})

test('a list is whole if nothing was left out and nothing unreadable may be new', () => {
  const unread = { id: 2, path: '$.instances[1].price', expected: 'number' }
  const list = { instances: [{ id: 1 }], unread: [unread], cutShort: undefined }
  expect(isListWhole(list, [1, 2], [1, 2])).toBe(true)
  expect(isListWhole(list, [1], [1, 2])).toBe(false)
  expect(isListWhole(list, [1, 2], [1, 2, 3])).toBe(false)
  expect(isListWhole({ ...list, cutShort: '2 of 3' }, [1, 2], [1, 2])).toBe(false)
})

test('late instances are surplus or came after the end, never the awaited one', () => {
  const records = [9, 12].map(id => ({ id, label: `berth:${mark}` }))
  const late = (fields: Partial<Attempt>) => lateComers({ ...attempt, ...fields } as Attempt, records)
  expect(late({ step: 'waiting', instance: 9, seen: true, requestCount: 2 })).toEqual([12])
  expect(late({ step: 'waiting', instance: 9, requestCount: 1 })).toEqual([])
  expect(late({ step: 'failed', requestCount: 1 })).toEqual([9, 12])
  expect(late({ step: 'lost', requestCount: 1 })).toEqual([])
  expect(late({ step: 'failed', requestCount: 0 })).toEqual([])
})

test('a mark is written into a label and read out of it again', () => {
  for (const label of ['llama', 'a berth:r1', 'berth:', 'x'.repeat(128), undefined]) {
    const marked = markLabel(label, mark)
    expect(rentalOf(marked, [])).toBe(mark)
    expect(plainLabel(marked)).toBe(label)
  }
  expect(rentalOf('berth:r0123', [])).toBeUndefined()
  expect(rentalOf(undefined, [['OTHER', mark]])).toBeUndefined()
})
