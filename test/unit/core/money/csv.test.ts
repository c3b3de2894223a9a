import { expect, test } from 'vitest'
import { daysCsv, instancesCsv, modelsCsv, samplesCsv } from '#core/money/csv.ts'

const day = {
  day: '2026-11-21',
  spent: 1_234_567,
  toppedUp: 0,
  credit: -1,
  models: {},
  instances: { 7: 1_000_000, 8: 4 },
}

test('amounts are exact, in dollars', () => {
  expect(daysCsv([day])).toBe(
    'day,spent_usd,topped_up_usd,credit_usd,estimated,as_charged\r\n2026-11-21,1.234567,0.000000,-0.000001,,\r\n',
  )
  expect(samplesCsv([{ at: 1_800_000_000, spent: 25 }])).toBe(
    'until,spent_usd,credit_usd\r\n2027-01-15T08:00:00.000Z,0.000025,\r\n',
  )
})

test('spending of no instance has its own row, so that the rows add up to the day', () => {
  const rows = instancesCsv([day], { 7: { gpu: 'A100', label: 'train', project: 'digits' } }).split('\r\n')
  expect(rows).toEqual([
    'day,instance,label,gpu,spent_usd,project',
    '2026-11-21,7,train,A100,1.000000,digits',
    '2026-11-21,8,,,0.000004,',
    '2026-11-21,,not of one instance,,0.234563,',
    '',
  ])
})

test('the rows by GPU model add up to the day, too', () => {
  const models = { 'RTX 4090': 1_000_000, '': 200_000 }
  expect(modelsCsv([{ ...day, models }]).split('\r\n')).toEqual([
    'day,gpu,spent_usd',
    '2026-11-21,RTX 4090,1.000000',
    '2026-11-21,unknown GPU,0.200000',
    '2026-11-21,not of one GPU,0.034567',
    '',
  ])
})

test.for([
  ['=cmd|"/c calc"!A1', `"'=cmd|""/c calc""!A1"`],
  ['+1+1', "'+1+1"],
  ['-2+3', "'-2+3"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['a,b', '"a,b"'],
  ['two\nlines', '"two\nlines"'],
] as const)('a spreadsheet takes the label %j for text', ([label, cell]) => {
  const [, row] = instancesCsv([{ ...day, spent: 5, instances: { 7: 5 } }], { 7: { label } }).split('\r\n')
  expect(row).toBe(`2026-11-21,7,${cell},,0.000005,`)
})
