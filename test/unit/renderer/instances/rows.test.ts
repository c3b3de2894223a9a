import { expect, test } from 'vitest'
import { rowNoticeOf } from '#renderer/screens/instances/rowNotice.ts'
import {
  filterRows,
  instanceRows,
  keepUnchanged,
  rowPrice,
  rowState,
} from '#renderer/screens/instances/rows.ts'
import type { RunView } from '#shared/automation/run.ts'
import type { RentalView } from '#shared/market/rental-view.ts'
import { accountView, instanceView, limitView, rentalView, runView } from '#test/unit/views.ts'

const gpu = { name: 'RTX 4090', count: 1 }

test('a rental and its instance are one row', () => {
  const account = accountView(
    { rentals: { r: rentalView({ instance: 7 }) } },
    instanceView({ id: 7, state: 'loading', actualStatus: 'loading' }),
    instanceView({ id: 9 }),
  )
  const rows = instanceRows(account)
  expect(rows.map(row => row.key)).toEqual(['9', '7'])
  expect(rows[1] && rowState(rows[1]).word).toBe('Renting')
})

test('a row keeps its identity until something of it changes', () => {
  const [first, second] = [instanceView({ id: 7 }), instanceView({ id: 9 })]
  const limits = { l: limitView({ id: 'l', instance: 9, dueAt: 5000 }) }
  const account = accountView({ limits }, first, second)
  const before = instanceRows(account)
  const kept = (next: typeof account) =>
    keepUnchanged(instanceRows(next), before).map(row => before.includes(row))
  expect(kept({ ...account })).toEqual([true, true])
  expect(kept(accountView({ limits }, { ...first, gpuLoad: 51 }, second))).toEqual([true, false])
  const later = { l: limitView({ id: 'l', instance: 9, dueAt: 6000 }) }
  expect(kept(accountView({ limits: later }, first, second))).toEqual([false, true])
  expect(
    kept(accountView({ limits, runs: { r: runView({ instance: 7, step: 'waiting' }) } }, first, second)),
  ).toEqual([true, false])
})

test('instances are shown by when they were made, the newest first, whatever their numbers', () => {
  const made = (id: number, startedAt?: number) =>
    instanceView({ id, ...(startedAt !== undefined && { startedAt }) })
  const rows = instanceRows(accountView({}, made(9, 100), made(3, 300), made(5, 200), made(1)))
  expect(rows.map(({ key }) => key)).toEqual(['1', '3', '5', '9'])
})

test('the row of a running instance shows Running, also while its rental still waits', () => {
  const rentals = { r: rentalView({ instance: 7 }) }
  const account = accountView({ rentals }, instanceView({ id: 7 }))
  expect(instanceRows(account).map(row => rowState(row).word)).toEqual(['Running'])
})

test('a run is shown with the rental or instance it waits for, also if it never began', () => {
  const run = runView({ rental: 'r0000000000000001', step: 'waiting', afterwards: 'stop' })
  const shown = (over: Partial<RunView>, rental: Partial<RentalView>) => {
    const account = accountView(
      { rentals: { r: rentalView(rental) } },
      instanceView({ id: 7, state: 'loading' }),
      instanceView({ id: 9 }),
    )
    account.runs[run.id] = { ...run, ...over }
    return instanceRows(account).flatMap(row => (row.runs ? [row.key, rowNoticeOf(row)?.kind] : []))
  }
  expect(shown({}, { step: 'asking' })).toEqual(['r0000000000000001', 'steps'])
  expect(shown({}, { instance: 7 })).toEqual(['7', 'steps'])
  expect(shown({ step: 'failed' }, { step: 'failed' })).toEqual(['r0000000000000001', 'failed'])
  expect(shown({ instance: 7 }, { step: 'late', instance: 9 })).toEqual(['7', 'steps'])
  expect(shown({ step: 'running', instance: 7 }, { instance: 7 })).toEqual([])
  expect(shown({ step: 'done' }, { instance: 7 })).toEqual([])
})

test('the filter matches name, number, GPU, state and place', () => {
  const rows = instanceRows(
    accountView(
      {},
      instanceView({ id: 4711, label: 'comfy', gpu, location: 'Sweden, SE' }),
      instanceView({ id: 4650, state: 'outbid', gpu: { name: 'L40S', count: 4 } }),
    ),
  )
  const found = (typed: string) => filterRows(rows, typed).map(row => row.key)
  expect(found('comfy')).toEqual(['4711'])
  expect(found('outbid l40')).toEqual(['4650'])
  expect(found('#47')).toEqual(['4711'])
  expect(found('sweden running')).toEqual(['4711'])
  expect(found('')).toHaveLength(2)
})

test('a row shows the current price, and the running price in its tooltip', () => {
  const priced = { pricePerHour: 410_000, costPerHour: 6000 }
  const halted = { micros: 6000, title: '$0.410/h while it runs' }
  for (const state of ['stopped', 'outbid', 'offline', 'crashed'] as const)
    expect(rowPrice({ key: '7', instance: instanceView({ id: 7, ...priced, state }) })).toEqual(halted)
  const running = instanceView({ id: 7, pricePerHour: 410_000, costPerHour: 410_000 })
  expect(rowPrice({ key: '7', instance: running })).toEqual({ micros: 410_000 })
  const loading = instanceView({ id: 7, ...priced, state: 'loading' })
  expect(rowPrice({ key: '7', instance: loading })).toEqual({ micros: 410_000 })
})

test('a running row says that nothing will stop it', () => {
  const limits = (given: Parameters<typeof accountView>[0], state: 'running' | 'stopped' = 'running') =>
    instanceRows(accountView(given, instanceView({ id: 1, state }))).map(row => row.unlimited)
  expect(limits({})).toEqual([true])
  expect(limits({}, 'stopped')).toEqual([undefined])
  const limit = limitView({ id: 'g1', instance: 1, when: { kind: 'cost', dollars: 1 } })
  expect(limits({ limits: { g1: limit } })).toEqual([undefined])
  expect(limits({ limits: { g1: { ...limit, step: 'done' } } })).toEqual([true])
  expect(limits({ limits: { g1: { ...limit, instance: 2 } } })).toEqual([true])
  const budget = {
    ...limit,
    instance: undefined,
    when: { kind: 'budget', per: 'day', dollars: 1 },
  } as const
  const { instance: _, ...ofAccount } = budget
  expect(limits({ limits: { g1: ofAccount } })).toEqual([undefined])
})
