import { expect, test } from 'vitest'
import { MissingPolls } from '#core/instances/missing-instances.ts'
import type { Poll } from '#core/instances/poll-account.ts'
import { type Expected, type InstanceAnswer, pollAll } from '#core/instances/verified-poll.ts'
import type { InstanceList } from '#service/instances.ts'

const list = (...ids: number[]): InstanceList => ({
  instances: ids.map(id => ({ id })),
  unread: [],
  cutShort: undefined,
})
const seen = (listed: InstanceList): Poll => ({ outcome: 'seen', list: listed })
const failed: Poll = { outcome: 'failed', problem: { code: 'unreachable', message: 'No answer.' } }
const unread = (id: number | undefined) => ({ path: '$.instances[0]', expected: 'must be object', id })

/** The outcome of these lists in order, and the requests made. `told`: the answers for single instances. */
async function found(
  answers: readonly Poll[],
  expected: readonly (number | Expected)[],
  told: Record<number, InstanceAnswer> = {},
) {
  const asked: string[] = []
  let polls = 0
  const poll = await pollAll(
    {
      poll: async ({ anew }) => {
        asked.push(anew ? 'anew' : 'list')
        return answers[polls++] ?? failed
      },
      one: async id => {
        asked.push(`#${id}`)
        return told[id] ?? 'unknown'
      },
    },
    () => expected.map(one => (typeof one === 'number' ? { id: one } : one)),
  )
  const listing = poll.outcome === 'seen' ? poll.listing : undefined
  return {
    asked: asked.join(' '),
    outcome: poll.outcome,
    ids: listing?.instances.map(({ id }) => id).sort(),
    unconfirmed: listing?.unconfirmed,
    doubt: listing?.doubt,
  }
}

const certain = { outcome: 'seen', unconfirmed: [], doubt: undefined }
const there = (...ids: number[]) => Object.fromEntries(ids.map(id => [id, { id }]))

test('a list with all expected instances is read once, with new ones or not', async () => {
  expect(await found([seen(list(1, 2))], [1, 2])).toEqual({ ...certain, asked: 'list', ids: [1, 2] })
  expect(await found([seen(list(1, 2, 3))], [1, 2])).toMatchObject({
    ...certain,
    asked: 'list',
    ids: [1, 2, 3],
  })
  expect(await found([seen(list())], [])).toMatchObject({ ...certain, asked: 'list', ids: [] })
})

test('of two records of one instance, the one counts in which it runs', async () => {
  const runs = { id: 1, actual_status: 'running', dph_total: 0.5 }
  const stopped = { id: 1, actual_status: 'stopped', dph_total: 0 }
  for (const instances of [
    [runs, stopped],
    [stopped, runs],
  ]) {
    const poll = async () => seen({ ...list(), instances })
    const found = await pollAll({ poll, one: async () => 'unknown' }, () => [{ id: 1 }])
    expect(found.outcome === 'seen' && found.listing?.instances).toEqual([runs])
  }
})

test('a missing instance is read individually, and gone only if that answer says so', async () => {
  const answers = [seen(list(2))]
  expect(await found(answers, [1, 2], { 1: 'gone' })).toEqual({ ...certain, asked: 'list #1', ids: [2] })
  expect(await found(answers, [1, 2], { 1: 'unknown' })).toMatchObject({ ids: [2], unconfirmed: [1] })
})

test('a list that lacks an existing instance is read again, and then believed', async () => {
  expect(await found([seen(list()), seen(list(1, 2, 3))], [1, 2, 3], there(1))).toEqual({
    ...certain,
    asked: 'list #1 anew',
    ids: [1, 2, 3],
  })
})

test('if the second list lacks it too, the rest is unconfirmed and a doubt reported', async () => {
  const again = await found([seen(list()), seen(list())], [1, 2, 3], there(1))
  expect(again).toMatchObject({ asked: 'list #1 anew', ids: [1], unconfirmed: [2, 3] })
  expect(again.doubt).toContain('3 instances that may still exist')
})

test('a list cut short is read again, and accepted with a doubt if still short', async () => {
  const short = { ...list(1), cutShort: 'the service speaks of 3 instances and listed 1' }
  expect(await found([seen(short), seen(list(1, 2, 3))], [1])).toMatchObject({
    ...certain,
    asked: 'list anew',
  })
  const twice = await found([seen(short), seen(short)], [1])
  expect(twice).toMatchObject({ ids: [1], unconfirmed: [] })
  expect(twice.doubt).toContain('speaks of 3')
})

test('an unreadable instance is read individually, expected or not', async () => {
  const one = { ...list(1), unread: [unread(2)] }
  expect(await found([seen(one)], [1], there(2))).toEqual({ ...certain, asked: 'list #2', ids: [1, 2] })
  const unknown = await found([seen(one)], [1, 2])
  expect(unknown).toMatchObject({ asked: 'list #2', ids: [1], unconfirmed: [2] })
  expect(unknown.doubt).toContain('one instance could not be read')
})

test('an instance that was just made may be missing without causing doubt', async () => {
  expect(await found([seen(list())], [{ id: 1, isYoung: true }])).toEqual({
    ...certain,
    asked: 'list',
    ids: [],
    unconfirmed: [1],
  })
})

test('of many missing instances only a few are read, limited ones first', async () => {
  const many = [1, 2, 3, 4, 5, 6, 7].map(id => ({ id, isLimited: id > 5 }))
  const gone = Object.fromEntries(many.map(({ id }) => [id, 'gone' as const]))
  const one = await found([seen(list())], many, gone)
  expect(one).toMatchObject({ asked: 'list #6 #7 #1 #2 #3', ids: [], unconfirmed: [4, 5] })
  expect(await found([seen(list()), seen(list())], many, there(6, 7))).toMatchObject({
    asked: 'list #6 #7 anew',
    ids: [6, 7],
    unconfirmed: [1, 2, 3, 4, 5],
  })
})

test('if the second poll yields no list, no instances count as seen', async () => {
  expect(await found([seen(list()), failed], [1], there(1))).toMatchObject({ outcome: 'failed' })
  expect(await found([seen(list()), { outcome: 'seen' }], [1], there(1))).toMatchObject({
    outcome: 'seen',
    ids: undefined,
  })
})

test('many missing instances are gone if the count agrees and a sample is gone', async () => {
  const invented = Array.from({ length: 1000 }, (_, at) => at + 10)
  const honest = { ...list(1), counted: true }
  const gone = Object.fromEntries(invented.map(id => [id, 'gone'] as const))
  const expected = [
    { id: 1 },
    { id: 2, isLimited: true },
    { id: 3, isYoung: true },
    ...invented.map(id => ({ id })),
  ]
  const after = await found([seen(honest)], expected, { ...gone, 2: 'gone' })
  expect(after).toEqual({ asked: 'list #2 #10 #210 #410 #610', outcome: 'seen', ids: [1], unconfirmed: [3] })

  // Berth always requests a limited one.
  const limited = [4, 5, 6, 7, 8, 9].map(id => ({ id, isLimited: true }))
  const ended = { ...gone, ...Object.fromEntries(limited.map(({ id }) => [id, 'gone'] as const)) }
  expect((await found([seen(honest)], [1, ...limited, ...invented], ended)).unconfirmed).toEqual([9])
})

test.each<[string, Partial<InstanceList>, Record<number, InstanceAnswer>]>([
  ['does not count', {}, {}],
  ['has a record that cannot be read', { counted: true, unread: [unread(undefined)] }, {}],
  ['is cut short', { cutShort: 'more' }, {}],
  ['counts, but one that it lacks is there', { counted: true }, there(14)],
  ['counts, but one that it lacks may be there', { counted: true }, { 14: 'unknown' }],
])('many missing instances stay where the list %s', async (_, more, told) => {
  const missing = Array.from({ length: 24 }, (_, at) => at + 10)
  const gone = Object.fromEntries(missing.map(id => [id, 'gone'] as const))
  const short = seen({ ...list(1), ...more })
  const { unconfirmed = [] } = await found([short, short], [1, ...missing], { ...gone, ...told })
  expect(unconfirmed.length).toBeGreaterThanOrEqual(19)
})

test('a list has a maximum of instances, known ones first, and reports the rest', async () => {
  const invented = Array.from({ length: 20_000 }, (_, at) => at + 10)
  const { ids = [], doubt } = await found([seen(list(...invented, 1))], [1])
  expect([ids.length, ids.includes(1)]).toEqual([2000, true])
  expect(doubt).toContain('counts 18001 instances more than it lists')
})

test('a part of the list is passed on at once, and nothing is missing from it', async () => {
  const parts: unknown[] = []
  await pollAll(
    {
      poll: async ({ onPart }) => {
        onPart?.({ ...list(1, 2), cutShort: 'more pages follow' })
        return seen(list(1, 2, 3))
      },
      one: async () => 'unknown',
    },
    () => [{ id: 1 }, { id: 3 }],
    part => parts.push(part),
  )
  expect(parts).toEqual([
    {
      gone: [],
      instances: [{ id: 1 }, { id: 2 }],
      unconfirmed: [3],
      doubt: 'The instance list is still loading: 2 instances so far.',
    },
  ])
})

const polls = new MissingPolls()
const poll = (...there: number[]) => polls.next(id => there.includes(id))

test('polls count once each, from the first one that was asked about', () => {
  poll()
  const first = poll()
  expect([first(1), first(1)]).toEqual([1, 1])
  expect(poll()(1)).toBe(2)
})

test('the count restarts once the instance is back, even if nobody waits', () => {
  expect(poll(1)(1)).toBe(0)
  expect(poll()(1)).toBe(1)
  poll(1)
  expect(poll()(1)).toBe(1)
})

test('a poll that nobody waits for doesn’t count', () => {
  expect(poll()(2)).toBe(1)
  poll()
  expect(poll()(2)).toBe(2)
})
