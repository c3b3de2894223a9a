import { expect, test } from 'vitest'
import type { RowColumn } from '#renderer/screens/instances/columns.ts'
import { groupRows } from '#renderer/screens/instances/groupRows.ts'
import { instanceRows } from '#renderer/screens/instances/rows.ts'
import {
  instanceSortAfterClick,
  type RowSort,
  ShownOrder,
  sortRows,
} from '#renderer/screens/instances/sortRows.ts'
import { accountView, instanceView, rentalView } from '#test/unit/views.ts'

const account = accountView(
  { rentals: { r: rentalView({ step: 'asking' }) } },
  instanceView({ id: 1, label: 'run 10', costPerHour: 300_000, pricePerHour: 300_000 }),
  instanceView({ id: 2, label: 'run 9', costPerHour: 900_000, pricePerHour: 900_000 }),
  instanceView({ id: 3, label: 'Base', costPerHour: 300_000, pricePerHour: 300_000 }),
)
const order = (by: RowSort | undefined) =>
  sortRows(instanceRows(account), by, { now: 0 })
    .map(({ instance }) => instance?.label ?? 'rental')
    .join(', ')
const clicked = (...columns: RowColumn[]) =>
  columns.reduce<RowSort | undefined>((by, column) => instanceSortAfterClick(by, column), undefined)

test('clicks on a column sort by A or largest first, then reversed, then not at all', () => {
  expect(order(undefined)).toBe('Base, run 9, run 10, rental')
  expect(order(clicked('name'))).toBe('Base, run 9, run 10, rental')
  expect(order(clicked('name', 'name'))).toBe('run 10, run 9, Base, rental')
  expect(order(clicked('name', 'name', 'name'))).toBe(order(undefined))
  expect(order(clicked('name', 'price'))).toContain('run 9, Base, run 10')
})

test('rows without a value come last both ways, and equals stay newest first', () => {
  for (const descending of [true, false]) expect(order({ column: 'spent', descending })).toMatch(/, rental$/)
  expect(order({ column: 'price', descending: false })).toContain('Base, run 10, run 9')
})

test('rows that need the user come first, however the others are sorted', () => {
  const states = ['running', 'outbid', 'stopped', 'crashed'] as const
  const rows = instanceRows(
    accountView(
      {},
      ...states.map((state, id) => instanceView({ id, state, label: `${id}`, pricePerHour: 100 * id })),
    ),
  )
  const labels = (by: RowSort | undefined) =>
    sortRows(rows, by, { now: 0 }).map(({ instance }) => instance?.label)
  expect(labels(undefined)).toEqual(['3', '1', '0', '2'])
  expect(labels({ column: 'name', descending: false })).toEqual(['1', '3', '0', '2'])
  expect(labels({ column: 'name', descending: true })).toEqual(['3', '1', '2', '0'])
})

test('unsorted rows come by how soon they may need the user, whatever they are', () => {
  const [now, hour] = [1_000_000, 3600]
  const instances = [
    instanceView({ id: 1, label: 'stopped', state: 'stopped' }),
    instanceView({ id: 2, label: 'starting', state: 'loading' }),
    instanceView({ id: 3, label: 'endless' }),
    instanceView({ id: 4, label: 'later' }),
    instanceView({ id: 5, label: 'sooner' }),
    instanceView({ id: 6, label: 'idle' }),
    instanceView({ id: 7, label: 'soon' }),
    instanceView({ id: 8, label: 'outbid', state: 'outbid' }),
  ]
  const stopAt: Record<string, number> = { later: 3 * hour, sooner: 2 * hour, idle: 5 * hour, soon: 1700 }
  const rows = instanceRows(accountView({}, ...instances)).map(row => {
    const left = stopAt[row.instance?.label ?? '']
    const stop = { by: 'limit', action: 'stop', when: '', about: '', needsBerth: true } as const
    return left === undefined ? row : { ...row, stops: [{ ...stop, at: now + left }] }
  })
  const named = (by?: RowSort) =>
    sortRows(rows, by, { now, idle: new Map([[6, 12]]) }).map(({ instance }) => instance?.label)
  expect(named()).toEqual(['outbid', 'soon', 'idle', 'sooner', 'later', 'endless', 'starting', 'stopped'])
  expect(named({ column: 'state', descending: false })).toEqual(named())
})

test('a held order keeps rows and groups where they are, also a rental that becomes an instance', () => {
  const order = new ShownOrder()
  const shown = (by: RowSort, held: boolean, loads: Record<string, number>, rented?: 1) => {
    const account = accountView(
      { rentals: { r: rentalView({ id: 'r', step: 'asking', ...(rented && { instance: 9 }) }) } },
      ...Object.entries(loads).map(([label, gpuLoad], at) => instanceView({ id: at + 1, label, gpuLoad })),
      ...(rented ? [instanceView({ id: 9, label: 'rented', gpuLoad: 99 })] : []),
    )
    const rows = sortRows(instanceRows(account), by, { now: 0 })
    return order
      .of(groupRows(rows, 'none', account), JSON.stringify(by), held)
      .flatMap(({ rows }) => rows.map(({ instance }) => instance?.label ?? 'rental'))
      .join(' ')
  }
  const byLoad: RowSort = { column: 'load', descending: true }
  const byName: RowSort = { column: 'name', descending: false }
  expect(shown(byLoad, false, { a: 90, b: 50, c: 10 })).toBe('a b c rental')
  expect(shown(byLoad, true, { a: 10, b: 50, c: 90 })).toBe('a b c rental')
  expect(shown(byLoad, true, { a: 10, b: 50, c: 90, d: 100 }, 1)).toBe('a b c rented d')
  expect(shown(byName, true, { a: 10, b: 50, c: 90 })).toBe('a b c rental')
  expect(shown(byLoad, true, { a: 10, b: 50, c: 90 })).toBe('c b a rental')
  expect(shown(byLoad, true, { a: 70, b: 50, c: 10 })).toBe('c b a rental')
  expect(shown(byLoad, false, { a: 70, b: 50, c: 10 })).toBe('a b c rental')
})
