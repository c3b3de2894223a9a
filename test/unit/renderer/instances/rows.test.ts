import { expect, test } from 'vitest'
import { filterRows, rowPrice, rowState, rowsOf } from '../../../../renderer/screens/instances/rows.ts'
import { someAccount, someInstance, someRental } from '../some-state.ts'

const gpu = { name: 'RTX 4090', count: 1 }

test('a rental and the instance it made are one row', () => {
  const account = someAccount(
    [someInstance(7, { state: 'loading', actualStatus: 'loading' }), someInstance(9)],
    [someRental({ instance: 7 })],
  )
  const rows = rowsOf(account)
  expect(rows.map(row => row.key)).toEqual(['9', '7'])
  expect(rows[1] && rowState(rows[1]).word).toBe('Renting')
})

test('a rental without an instance is a row of its own, above the instances', () => {
  const rows = rowsOf(someAccount([someInstance(9)], [someRental({ step: 'asking' })]))
  expect(rows.map(row => row.key)).toEqual(['r0000000000000001', '9'])
})

test('a row whose instance runs says Running, and a rental that is done says nothing', () => {
  const account = someAccount([someInstance(7)], [someRental({ step: 'running', instance: 7 })])
  expect(rowsOf(account).map(row => [rowState(row).word, row.rental])).toEqual([['Running', undefined]])
  const gone = someAccount([], [someRental({ step: 'running', instance: 7 })])
  expect(rowsOf(gone)).toEqual([])
})

test('the filter finds by name, number, GPU, state and place', () => {
  const rows = rowsOf(
    someAccount([
      someInstance(4711, { label: 'comfy', gpu, location: 'Sweden, SE' }),
      someInstance(4650, { state: 'outbid', gpu: { name: 'L40S', count: 4 } }),
    ]),
  )
  const found = (typed: string) => filterRows(rows, typed).map(row => row.key)
  expect(found('comfy')).toEqual(['4711'])
  expect(found('outbid l40')).toEqual(['4650'])
  expect(found('#47')).toEqual(['4711'])
  expect(found('sweden running')).toEqual(['4711'])
  expect(found('')).toHaveLength(2)
})

test('a row shows what it costs now, with what it costs running in its title', () => {
  const priced = { pricePerHour: 410_000, costPerHour: 6000 }
  const halted = { micros: 6000, title: '$0.410/h while it runs' }
  for (const state of ['stopped', 'outbid', 'offline', 'crashed'] as const)
    expect(rowPrice({ key: '7', instance: someInstance(7, { ...priced, state }) })).toEqual(halted)
  const running = someInstance(7, { pricePerHour: 410_000, costPerHour: 410_000 })
  expect(rowPrice({ key: '7', instance: running })).toEqual({ micros: 410_000 })
  const loading = someInstance(7, { ...priced, state: 'loading' })
  expect(rowPrice({ key: '7', instance: loading })).toEqual({ micros: 410_000 })
})
