import { beforeEach, expect, test } from 'vitest'
import { createRecentSearches, type RecentSearches } from '#core/market/recent-searches.ts'
import type { CallOptions } from '#service/http/operation.ts'
import type { Offer, OfferSearch } from '#service/offers.ts'
import { HandClock } from '#test/berth/clocks.ts'

const cheapest: OfferSearch = { order: [['dph_total', 'asc']] }
const dearest: OfferSearch = { order: [['dph_total', 'desc']] }

let clock: HandClock
let recent: RecentSearches
let asked: OfferSearch[]
/** As many offers as a service that cuts its lists off may list. */
const listed = (id: number) => Array.from({ length: 64 }, () => ({ id }) as Offer)
/** Answers each search. */
let answer: (options: CallOptions | undefined) => Promise<Offer[]>
beforeEach(() => {
  clock = new HandClock()
  recent = createRecentSearches(clock)
  asked = []
  answer = async () => listed(asked.length)
})

const service = {
  search: (search: OfferSearch, options?: CallOptions) => {
    asked.push(search)
    return answer(options)
  },
}
const market = (maxAge?: number) => recent.market('a1', service, maxAge)

test('the same search within six seconds is answered without asking, and later where that may be', async () => {
  await market().search(cheapest)
  await clock.pass(6000)
  expect(await market().search(cheapest)).toEqual(listed(1))
  expect(asked).toHaveLength(1)
  await market().search(dearest)
  await clock.pass(30_000)
  const look = market(60_000)
  await look.search(dearest)
  await look.search(cheapest)
  expect(look.age).toBe(36_000)
  expect(asked).toEqual([cheapest, dearest])
  expect(await market().search(cheapest)).toEqual(listed(3))
})

test('a list that is whole is asked for anew', async () => {
  answer = async () => listed(1).slice(1)
  await market(60_000).search(cheapest)
  await market(60_000).search(cheapest)
  answer = async () => listed(1)
  await market(60_000).search({ ...cheapest, limit: 64 })
  await market(60_000).search({ ...cheapest, limit: 64 })
  expect(asked).toHaveLength(4)
})

test('nothing serves after a minute, after a rental, for another account, or where it failed', async () => {
  await market().search(cheapest)
  await clock.pass(60_001)
  await market(60_000).search(cheapest)
  recent.forget('a1')
  await market(60_000).search(cheapest)
  await recent.market('a2', service).search(cheapest)
  expect(asked).toHaveLength(4)
  answer = () => Promise.reject(new Error('offline'))
  await expect(market().search(dearest)).rejects.toThrow('offline')
  answer = async () => []
  expect(await market().search(dearest)).toEqual([])
})

test('two equal requests are sent once, unless the first was withdrawn', async () => {
  let fail: (error: Error) => void = () => undefined
  answer = () =>
    new Promise((_, reject) => {
      fail = reject
    })
  const first = market().search(cheapest)
  const second = market().search(cheapest)
  expect(asked).toHaveLength(1)
  answer = async () => listed(9)
  fail(new Error('withdrawn'))
  await expect(first).rejects.toThrow('withdrawn')
  expect(await second).toEqual(listed(9))
  expect(asked).toHaveLength(2)
})

test('a kept answer tells of its unreadable offers as well', async () => {
  answer = async options => {
    options?.onUnread?.([{ id: 3, path: '$', expected: 'must be an object' }])
    return listed(1)
  }
  const told: number[] = []
  const onUnread: CallOptions['onUnread'] = unread => told.push(unread.length)
  await market().search(cheapest, { onUnread })
  await market().search(cheapest, { onUnread })
  expect(told).toEqual([1, 1])
  expect(asked).toHaveLength(1)
})
