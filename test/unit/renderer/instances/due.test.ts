import { expect, test } from 'vitest'
import { whatIsDue } from '#renderer/features/instances/whatIsDue.ts'
import type { LimitView } from '#shared/automation/limit.ts'
import { timeOfDay } from '#shared/format/time.ts'
import { accountView, instanceView, limitView } from '#test/unit/views.ts'

/** Local noon, so that minutes later is the same day. */
const noon = new Date(2026, 10, 21, 12).getTime()
const here = noon / 1000

function limit(id: string, given: Partial<LimitView>): Record<string, LimitView> {
  return {
    [id]: limitView({
      id,
      instance: 7,
      when: { kind: 'idle', below: 5, seconds: 600 },
      sentence: 'Stops comfy when it is idle.',
      ...given,
    }),
  }
}

const lab = accountView({
  id: 'lab',
  name: 'Lab',
  clock: { serverAt: noon, localAt: noon, rate: 1 },
  limits: {
    ...limit('idle', { dueAt: here + 600 }),
    ...limit('never', {}),
    ...limit('done', { dueAt: here + 1, step: 'done' }),
  },
})
/** Its clock is a year behind and runs 20 times as fast. */
const demo = accountView({
  id: 'demo',
  name: 'Demo',
  clock: { serverAt: noon - 365 * 86_400_000, localAt: noon, rate: 20 },
  limits: limit('time', {
    when: { kind: 'time', at: here - 365 * 86_400 + 20 * 900 },
    asleep: false,
    setAt: 0,
    sentence: 'Stops sweep on Sat 21 Nov, 18:00.',
    dueAt: here - 365 * 86_400 + 20 * 900,
  }),
})

test('due limits of all accounts are sorted by each account’s clock and carry its name', () => {
  expect(whatIsDue([demo, lab], noon).map(({ account, label }) => [account, label])).toEqual([
    ['lab', `Next, at ${timeOfDay(here + 600)}: stops comfy when it is idle (Lab)`],
    ['demo', `Then: stops instance #7 at ${timeOfDay(here + 20 * 900)} (Demo)`],
  ])
})

test('a limit that cannot act is not announced as next', () => {
  const problem = { code: 'timeout', message: 'No answer.' }
  const silent = accountView({ ...lab, connection: { status: 'offline', problem } })
  expect(whatIsDue([silent], noon).map(({ label }) => label)).toEqual([
    `Can’t act now, at ${timeOfDay(here + 600)}: stops comfy when it is idle`,
  ])
})

test('with one account its name is left out, and at most five limits are listed', () => {
  const many = accountView({
    clock: lab.clock,
    limits: Object.assign({}, ...[7, 3, 5, 1, 6, 2].map(n => limit(`g${n}`, { dueAt: here + n * 60 }))),
  })
  const due = whatIsDue([many], noon)
  expect(due.map(({ limit: { id } }) => id)).toEqual(['g1', 'g2', 'g3', 'g5', 'g6'])
  expect(due[0]?.label).toBe(`Next, at ${timeOfDay(here + 60)}: stops comfy when it is idle`)
})

test('a limit with nothing to stop is not due, one that keeps an instance from coming back is', () => {
  const at = (state: 'stopped' | 'outbid' | 'offline') =>
    whatIsDue([{ ...lab, instances: { 7: instanceView({ id: 7, state }) } }], noon)
  expect(at('stopped')).toEqual([])
  expect(at('outbid')).toEqual([])
  expect(at('offline')).toHaveLength(1)
})
