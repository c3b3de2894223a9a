import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { type Limit, LimitFields, type LimitView, leastDollars, lessSpent } from '#shared/automation/limit.ts'
import {
  hinderedLimits,
  limitHindrance,
  limitsByBerth,
  limitsWithoutBerth,
  stopperWords,
} from '#shared/automation/limit-words.ts'
import { starting, stoppersOf } from '#shared/automation/limits-that-block.ts'
import { othersEnds } from '#shared/automation/watchdog.ts'
import { limitsAt } from '#shared/project/bounds.ts'
import type { AccountView } from '#shared/state.ts'
import { accountView, instanceView, limitView } from '../views.ts'

test('a part of a sum is never more than it, however small', () => {
  const sum = fc.integer({ min: 1, max: 1_000_000_000 })
  fc.assert(
    fc.property(sum, fc.nat(2_000_000_000), (whole, spent) => {
      const stop: Limit = {
        when: { kind: 'cost', dollars: whole / 1_000_000 },
        action: 'stop',
        asleep: false,
      }
      const left = [limitsAt([stop], whole - spent), lessSpent([stop], spent)]
      for (const [one] of left) {
        if (one?.when.kind !== 'cost') throw new Error('no limit on the cost')
        expect(one.when.dollars).toBeCloseTo(Math.max(leastDollars, (whole - spent) / 1_000_000), 6)
        expect(v.is(LimitFields.entries.when, one.when)).toBe(true)
      }
    }),
  )
})

const limit = (id: string, step: LimitView['step']): LimitView =>
  limitView({ id, instance: 7, when: { kind: 'cost', dollars: 1 }, sentence: 'Stops #7.', step })
const limits = {
  a: limit('a', 'waiting'),
  b: limit('b', 'held'),
  c: limit('c', 'done'),
  d: limit('d', 'off'),
}

test('limits cannot act without the key or the service, and only those that are set are counted', () => {
  expect(limitHindrance({ status: 'online' })).toBeUndefined()
  expect(hinderedLimits(2, limitHindrance({ status: 'refused' }))).toBe(
    '2 limits are set and can’t act until the API key is accepted again.',
  )
  expect(hinderedLimits(0, limitHindrance({ status: 'offline' }))).toBeUndefined()
})

test('a limit that a watchdog keeps acts without the key, and isn’t counted among those that can’t', () => {
  const kept = { ...limit('k', 'waiting'), asleep: true }
  const request = { action: 'stop' as const, at: 1 }
  const watchdog = { instance: 7, request, step: 'watching' as const, foreign: false }
  const count = (given: Partial<AccountView['watchdogs'][string]>) =>
    limitsByBerth(
      accountView({ limits: { ...limits, k: kept }, watchdogs: { 7: { ...watchdog, ...given } } }),
      7,
    )
  expect(count({})).toBe(2)
  expect(count({ foreign: true })).toBe(3)
  // One that isn't visited yet: it came with the rental, or isn't there.
  expect(count({ step: 'putting', there: request })).toBe(2)
  expect(count({ step: 'putting', there: { action: 'stop', lease: 60 } })).toBe(3)
  expect(count({ step: 'putting' })).toBe(3)
  expect(count({ step: 'putting', there: request, unseen: true })).toBe(3)
  expect(limitsByBerth(accountView({ limits }), 8)).toBe(0)
})

const untoldReport = { at: 1, comesBack: true, key: 'container' as const }

test('quitting reports limits that stop working, but no demo’s or watchdog’s', () => {
  const account = accountView({ limits })
  const localNow = account.clock.serverAt
  const said = '2 limits are set and can’t act while Berth is not running.'
  expect(limitsWithoutBerth([account, accountView({ demo: true, limits })])).toBe(said)
  expect(limitsWithoutBerth([accountView({ demo: true, limits }), accountView()])).toBeUndefined()
  const request = { action: 'stop' as const, lease: 3600 }
  const watchdogs = { 7: { instance: 7, request, step: 'watching' as const, foreign: false } }
  expect(limitsWithoutBerth([{ ...account, watchdogs }])).toBe(`${said} A watchdog on an instance still can.`)
  const came = { 7: { ...watchdogs[7], step: 'putting' as const, there: request } }
  expect(limitsWithoutBerth([accountView({ watchdogs: came }, instanceView({ id: 7 }))])).toMatch(
    /^The watchdog that came with .* acts if its start script runs, which Berth hasn’t seen yet\.$/,
  )
  const there = { action: 'destroy' as const, at: account.clock.serverAt / 1000 + 7200 }
  const late = { 7: { ...came[7], request: { ...there, at: there.at - 3600 }, there, report: untoldReport } }
  expect(limitsWithoutBerth([accountView({ watchdogs: late }, instanceView({ id: 7 }))], localNow)).toMatch(
    /^The watchdog of .* destroys it only .*: it couldn’t be told of the change\.$/,
  )
  const untold = { 7: { ...watchdogs[7], step: 'removing' as const, there } }
  const left = accountView({ watchdogs: untold }, instanceView({ id: 7 }))
  expect(limitsWithoutBerth([left], localNow)).toMatch(
    /^The watchdog of .* still destroys it .*: it couldn’t be told of the change\.$/,
  )
})

describe('stoppers', () => {
  const limit = (given: Partial<LimitView>): LimitView =>
    limitView({ when: { kind: 'budget', per: 'day', dollars: 0.66 }, warning: 900, ...given })
  const stoppers = (given: Partial<LimitView>, credit = 50_000_000) => {
    const account = accountView({ credit, limits: { one: limit(given) } }, instanceView())
    return stoppersOf(account, { instance: 4711, more: 600_000 }, 1000).map(stopperWords)
  }

  test('a reached budget stops started instances, unless snoozed or done', () => {
    expect(stoppers({ dueAt: 900 })).toEqual([
      'Spending reached $0.66 today: its limit stops it at the next poll.',
    ])
    expect(stoppers({ dueAt: 1100 })).toEqual([])
    expect(stoppers({ dueAt: 900, snoozedUntil: 1100 })).toEqual([])
    expect(stoppers({ dueAt: 900, step: 'done' })).toEqual([])
  })

  test('a credit limit is predicted with the cost of the start', () => {
    const when = { kind: 'credit', hours: 6 } as const
    expect(stoppers({ when }, 5_900_000)).toHaveLength(1)
    expect(stoppers({ when }, 6_100_000)).toEqual([])
  })

  test('a credit limit counts expected traffic, but no instance that is stopping', () => {
    const when = { kind: 'credit', hours: 10 } as const
    const limits = { one: limit({ when }) }
    const stopped = (given: object) => {
      const running = instanceView({ costPerHour: 600_000, diskPricePerHour: 100_000, ...given })
      const account = accountView({ credit: 10_000_000, limits }, running)
      return stoppersOf(account, { more: 300_000 }, 1000).length > 0
    }
    expect(stopped({})).toBe(false)
    expect(stopped({ traffic: { expectedPerHour: 200_000 } })).toBe(true)
    expect(stopped({ costPerHour: 800_000 })).toBe(true)
    expect(stopped({ costPerHour: 800_000, state: 'stopping' })).toBe(false)
    const later = instanceView({
      state: 'stopped',
      pricePerHour: 500_000,
      costPerHour: 100_000,
      traffic: { expectedPerHour: 9 },
    })
    expect(starting(later)).toEqual({ instance: later.id, more: 400_009 })
  })

  test('a limit of another instance does not count', () => {
    const when = { kind: 'cost', dollars: 1 } as const
    expect(stoppers({ when, instance: 4711, dueAt: 900 })).toHaveLength(1)
    expect(stoppers({ when, instance: 4712, dueAt: 900 })).toEqual([])
  })
})

test('the ends by other Berths’ watchdogs are those to come, the soonest first', () => {
  const watchdog = (instance: number, at: number | undefined, given = {}) => ({
    [instance]: {
      instance,
      request: { action: 'destroy' as const, at },
      step: 'watching' as const,
      foreign: true,
      ...given,
    },
  })
  const all = {
    ...watchdog(1, 300),
    ...watchdog(2, 200),
    ...watchdog(3, 90),
    ...watchdog(4, undefined),
    ...watchdog(5, 150, { foreign: false }),
    ...watchdog(6, 150, { step: 'lost' }),
  }
  expect(othersEnds(all, 100).map(({ instance }) => instance)).toEqual([2, 1])
})
