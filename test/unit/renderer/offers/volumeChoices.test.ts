import { expect, test } from 'vitest'
import { volumeChoices, volumeName, volumeWays } from '#renderer/screens/offers/rent/rentSubject.ts'

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

test('a kind of volume that the machine or the service doesn’t have is not offered, and the reason said', () => {
  const roomy = { id: 1, machineId: 1, volumeOffer: 30, volumeRoom: 80 }
  const ways = (machine: Parameters<typeof volumeWays>[0], answer: Parameters<typeof volumeName>[0]) =>
    volumeWays(machine, { answer, missing: false })
  expect(ways(roomy, [here])).toEqual({ link: true, new: true })
  expect(ways(roomy, [elsewhere])).toMatchObject({ link: false, new: true, why: expect.any(String) })
  expect(ways({ ...roomy, volumeRoom: 0 }, [here])).toMatchObject({
    link: true,
    new: false,
    why: expect.any(String),
  })
  expect(ways({ id: 1, machineId: 1 }, [])).toMatchObject({
    link: false,
    new: false,
    why: expect.any(String),
  })
  // One of several machines, of which none is known yet.
  expect(ways({ id: 1 }, [elsewhere])).toEqual({ link: true, new: true })
  expect(volumeWays(roomy, { missing: true })).toEqual({
    link: false,
    new: false,
    why: 'This service has no volumes.',
  })
})

test('a new volume gets a name of its own', () => {
  expect(volumeName([])).toBe('data')
  expect(
    volumeName([
      { ...here, label: 'data' },
      { ...bare, label: 'data_2' },
    ]),
  ).toBe('data_3')
})
