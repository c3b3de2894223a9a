import { expect, test } from 'vitest'
import { volumeChoices } from '#renderer/screens/offers/rent/rentSubject.ts'

const here = { id: 5, machineId: 1, label: 'datasets', size: 40, instances: [] }
const bare = { id: 6, machineId: 1, instances: [9] }
const elsewhere = { id: 7, machineId: 2, instances: [] }

test('only volumes on the machine can be chosen', () => {
  expect(volumeChoices([here, bare, elsewhere], 1, '')).toEqual([
    { value: '5', label: 'datasets, 40 GB' },
    { value: '6', label: '#6' },
  ])
})

test('without a volume on the machine there are no choices', () => {
  expect(volumeChoices([elsewhere], 1, '')).toBeUndefined()
})

test('a filled in volume of another machine stays a choice that says so', () => {
  expect(volumeChoices([here], 1, '7')).toContainEqual({ value: '7', label: '#7, not on this machine' })
  expect(volumeChoices([here], 1, ' 5 ')).toHaveLength(1)
})
