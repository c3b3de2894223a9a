import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dueOf, limitActions, nextMoment } from '#core/limits/decide.ts'
import type { Facts } from '#core/limits/facts.ts'
import { wasDueAsleep } from '#core/limits/limit-due.ts'
import type { StoredLimit } from '#core/limits/model.ts'
import { spentBy } from '#shared/derived.ts'
import { instanceView } from '#test/unit/views.ts'
import { limitFacts, storedLimit } from './stored-limit.ts'

const dollar = 1_000_000
const hour = 3600

/** Three hours before the end of a month, at a dollar an hour, with the spending of the day and the month. */
const ends = new Date(2026, 2, 1).getTime() / 1000
const at = ends - 3 * hour
const spent = { spentToday: 2 * dollar, spentThisMonth: 40 * dollar }
const facts = limitFacts(at, { instances: {}, spendPerHour: dollar }, spent)
const due = (per: 'day' | 'month', dollars: number) =>
  dueOf({ when: { kind: 'budget', per, dollars }, setAt: 0 }, facts)

test('a budget that lasts to the end of its day or month is never due', () => {
  expect(due('day', 4)).toBe(at + 2 * hour)
  expect(due('day', 5)).toBeUndefined()
  expect(due('day', 6)).toBeUndefined()
  expect(due('month', 42)).toBe(at + 2 * hour)
  expect(due('month', 43)).toBeUndefined()
  expect(facts).toMatchObject({ dayEnds: ends, monthEnds: ends })
})

test('expected traffic makes cost, credit and budget limits due earlier', () => {
  const spent = { micros: 0, at, perHour: dollar }
  const instance = (traffic: object) => instanceView({ id: 7, costPerHour: dollar, spent, traffic })
  const moments = (traffic: object) => {
    const account = { instances: { 7: instance(traffic) }, spendPerHour: dollar, credit: 6 * dollar }
    const seen = { ...facts, account }
    return [
      dueOf({ when: { kind: 'cost', dollars: 4 }, instance: 7, setAt: 0 }, seen),
      dueOf({ when: { kind: 'credit', hours: 1 }, setAt: 0 }, seen),
      dueOf({ when: { kind: 'budget', per: 'day', dollars: 4 }, setAt: 0 }, seen),
    ]
  }
  expect(moments({})).toEqual([at + 4 * hour, at + 5 * hour, at + 2 * hour])
  expect(moments({ expectedPerHour: dollar })).toEqual([at + 2 * hour, at + 2 * hour, at + hour])
})

test('a cost is due when it is reached, also at a price that was accepted for later', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 3 * dollar }),
      fc.integer({ min: 1, max: 50 * dollar }),
      fc.integer({ min: -hour, max: 90 * hour }),
      fc.integer({ min: 0, max: 20 * dollar }),
      (perHour, then, after, micros) => {
        const spent = { micros, at, perHour, rise: { at: at + after, perHour: then } }
        const instance = instanceView({ id: 7, costPerHour: perHour, spent })
        const seen = { ...facts, account: { instances: { 7: instance }, spendPerHour: perHour } }
        const moment = dueOf({ when: { kind: 'cost', dollars: 21 }, instance: 7, setAt: 0 }, seen) ?? 0
        expect(Math.abs(spentBy(instance, moment) - 21 * dollar)).toBeLessThan(20_000)
      },
    ),
  )
})

test('the cost of an instance that boots is forecast by its full price', () => {
  const spent = { micros: 0, at, perHour: dollar / 100 }
  const moment = (state: 'loading' | 'stopped') => {
    const booting = instanceView({ id: 7, state, costPerHour: dollar / 100, pricePerHour: dollar, spent })
    const account = { instances: { 7: booting }, spendPerHour: dollar }
    return dueOf({ when: { kind: 'cost', dollars: 4 }, instance: 7, setAt: 0 }, { ...facts, account })
  }
  expect(moment('loading')).toBe(at + 4 * hour)
  expect(moment('stopped')).toBe(at + 400 * hour)
})

test('a limit on the credit that cannot see the cost goes by the fall of the credit, and acts once it is used up', () => {
  const moment = (credit: number, observedPerHour: number, state: 'running' | 'stopped' = 'running') => {
    const unseen = instanceView({ id: 7, state, costPerHour: 0, costUnknown: true })
    const account = { instances: { 7: unseen }, spendPerHour: 0, credit: credit * dollar }
    const seen = { ...facts, account, observedPerHour: observedPerHour * dollar }
    return dueOf({ when: { kind: 'credit', hours: 6 }, setAt: 0 }, seen)
  }
  expect(moment(7, 0)).toBeUndefined()
  expect(moment(21, 3)).toBe(at + hour)
  expect(moment(0, 0)).toBe(at)
  expect(moment(-3, 0)).toBe(at)
  // What has stopped is not spent any more.
  expect(moment(7, 3, 'stopped')).toBeUndefined()
})

const limit = storedLimit({ when: { kind: 'time', at: 100 }, warning: 30, warnedAt: 70 })

test('a due time that passed since the last poll stays next until a poll has seen it', () => {
  expect(nextMoment(limit, 100, 99, 99)).toBe(100)
  expect(nextMoment(limit, 100, 101, 99)).toBe(100)
  expect(nextMoment(limit, 100, 101, 100)).toBeUndefined()
})

test('a retry that passed since the last poll stays next too', () => {
  expect(nextMoment({ ...limit, retryAt: 110 }, 100, 111, 105)).toBe(110)
})

test('a pending warning is next at its time, or now if that has passed', () => {
  const { warnedAt: _, ...unwarned } = limit
  expect(nextMoment(unwarned, 100, 60, 60)).toBe(70)
  expect(nextMoment(unwarned, 100, 80, 80)).toBe(80)
})

test('a watchdog may have acted while Berth was away for what was due then, and for nothing else', () => {
  const target = (cost: number) => instanceView({ id: 7, spent: { micros: cost * dollar, at, perHour: 0 } })
  const was = (when: StoredLimit['when'], seenAt: number, cost = 0, asleep = true) =>
    wasDueAsleep({ when, setAt: at - 5 * hour, asleep }, target(cost), seenAt, at)
  const seenAt = at - 4 * hour
  expect(was({ kind: 'duration', seconds: 3 * hour }, seenAt)).toBe(true)
  expect(was({ kind: 'time', at: at - 1 }, seenAt)).toBe(true)
  expect(was({ kind: 'away', seconds: 2 * hour }, seenAt)).toBe(true)
  expect(was({ kind: 'cost', dollars: 2 }, seenAt, 1.95)).toBe(true)
  // It is not due yet, was long before, is of this computer alone, or Berth was there.
  expect(was({ kind: 'duration', seconds: 6 * hour }, seenAt)).toBe(false)
  expect(was({ kind: 'duration', seconds: 600 }, seenAt)).toBe(false)
  expect(was({ kind: 'away', seconds: 5 * hour }, seenAt)).toBe(false)
  expect(was({ kind: 'cost', dollars: 2 }, seenAt, 1)).toBe(false)
  expect(was({ kind: 'time', at: at - 1 }, seenAt, 0, false)).toBe(false)
  expect(was({ kind: 'cost', dollars: 2 }, at - 60, 2)).toBe(false)
})

test('the shares of a budget are told once each in its day, and never in place of what it does', () => {
  const instances = { 7: instanceView({ id: 7, state: 'running', pricePerHour: 1, costPerHour: 1 }) }
  const noon = new Date(2026, 6, 1, 12).getTime() / 1000
  const { instance: _, ...whole } = storedLimit({ when: { kind: 'budget', per: 'day', dollars: 10 } })
  const told = (limit: StoredLimit, dollars: number, at = noon, more: Partial<Facts> = {}) => {
    const facts = limitFacts(
      at,
      { instances, spendPerHour: 0, credit: 0 },
      { spentToday: dollars * 1_000_000, ...more },
    )
    const snapshot = { facts, acted: new Set<number>(), fresh: true, sure: true, seenAt: at, gap: 600 }
    return limitActions(snapshot, [limit], at)[0]
  }
  expect(told(whole, 4.99)).toBeUndefined()
  const half = told(whole, 5)
  expect(half).toMatchObject({ kind: 'share', share: 50 })
  const after = half?.limit ?? whole
  expect(told(after, 7.99)).toBeUndefined()
  expect(told(after, 8)).toMatchObject({ kind: 'share', share: 80 })
  // One poll may find more than one passed.
  expect(told(whole, 9)).toMatchObject({ kind: 'share', share: 80 })
  expect(told(after, 5, noon + 86_400)).toMatchObject({ kind: 'share', share: 50 })
  expect(told(after, 9, noon + 86_400, { countedAt: noon })).toBeUndefined()
  expect(told(after, 10)).toMatchObject({ kind: 'act' })
})

test('a cost that something else may have spent stops an instance, but destroys no files', () => {
  const decided = (state: 'running' | 'stopped' | 'outbid', inferred: number) => {
    const spent = { micros: 5 * dollar, at, perHour: dollar, inferred }
    const instances = { 7: instanceView({ id: 7, state, costPerHour: dollar, spent, startedAt: at - hour }) }
    const limit = storedLimit({ instance: 7, when: { kind: 'cost', dollars: 4 }, action: 'destroy' })
    const seen = limitFacts(at, { instances, spendPerHour: dollar })
    const snapshot = {
      facts: seen,
      fresh: true,
      sure: true,
      seenAt: at - 10,
      gap: 600,
      acted: new Set<number>(),
    }
    const [decision] = limitActions(snapshot, [limit], at)
    return decision?.kind === 'act' ? decision.targets.map(({ action }) => action) : []
  }
  expect(decided('running', 0)).toEqual(['destroy'])
  expect(decided('running', dollar)).toEqual(['destroy'])
  expect(decided('running', 2 * dollar)).toEqual(['stop'])
  expect(decided('stopped', 0.5 * dollar)).toEqual(['destroy'])
  expect(decided('stopped', 2 * dollar)).toEqual([])
  expect(decided('outbid', 2 * dollar)).toEqual([])
})
