import { expect, test } from 'vitest'
import { partsFor } from '#renderer/screens/instances/columns.ts'
import { calmWords, countsOf, urgentWords, vramOf } from '#renderer/screens/instances/rows.ts'
import { instanceView } from '#test/unit/views.ts'

test('instances are counted as running, starting or needing the user', () => {
  const rows = (['running', 'running', 'loading', 'outbid', 'crashed', 'stopped'] as const).map(
    (state, id) => ({
      key: String(id),
      instance: instanceView({ id, state }),
    }),
  )
  const counts = countsOf(rows)
  expect(counts).toEqual({ running: 2, onTheirWay: 1, needYou: 2 })
  expect(calmWords(counts)).toBe('2 running, 1 starting')
  expect(urgentWords(counts)).toBe('2 need you')
  expect(urgentWords({ ...counts, needYou: 1 })).toBe('1 needs you')
  expect(calmWords(countsOf([]))).toBe('')
})

test('in a narrow table the least important columns go first, and what guards money last', () => {
  expect(partsFor(2000)).toEqual(partsFor(1870))
  expect(partsFor(1330)).toContain('id')
  expect(partsFor(1329)).not.toContain('id')
  expect(partsFor(950)).toEqual(new Set(['load', 'gpu', 'stops', 'price']))
  expect(partsFor(640)).toEqual(new Set(['stops', 'price']))
  expect(partsFor(639)).toEqual(new Set(['price']))
})

test('VRAM is summed over all GPUs, and its use is given where known', () => {
  const box = instanceView({ gpu: { name: 'RTX 4090', count: 8, memory: 24 * 1024 } })
  expect(vramOf(box, undefined)).toEqual({ total: 192 })
  expect(vramOf(box, 173 * 1024)).toEqual({ total: 192, used: 173 })
  expect(vramOf({ ...box, state: 'stopped' }, 5)).toBeUndefined()
})
