import { expect, test } from 'vitest'
import {
  emptyWorkergroup,
  readDisk,
  readWorkergroup,
} from '../../../../renderer/screens/hosting/hostingForm.ts'

const disk = { onto: 'new', disk: '', mountPoint: '/mnt/a', chosen: [], typed: '' } as const

test('machines are those chosen and those typed, each once', () => {
  expect(readDisk({ ...disk, chosen: [5], typed: '5, 6 #7' })).toEqual({
    value: { mountPoint: '/mnt/a', machines: [5, 6, 7] },
  })
  expect(readDisk({ ...disk, chosen: [] })).toEqual({ errors: { machines: 'Give at least one machine.' } })
  expect(readDisk({ ...disk, chosen: [], typed: 'rack' })).toEqual({
    errors: { machines: 'An id is a number.' },
  })
})

test('an existing disk needs its id, a new one has none', () => {
  expect(readDisk({ ...disk, onto: 'existing', typed: '5', chosen: [] })).toEqual({
    errors: { disk: 'An id is a number.' },
  })
  expect(readDisk({ ...disk, onto: 'existing', disk: '300', typed: '5', chosen: [] })).toMatchObject({
    value: { disk: 300 },
  })
})

test('of two alternatives the one that is shown is sent', () => {
  const typed = { ...emptyWorkergroup, endpointName: 'chat', endpointId: '4', templateHash: 'abc' }
  expect(readWorkergroup(typed)).toEqual({
    value: {
      endpointName: 'chat',
      searchParams: 'verified=true rentable=true rented=false',
      minLoad: 1,
    },
  })
  expect(readWorkergroup({ ...typed, endpoint: 'id', workers: 'hash', minLoad: '' })).toEqual({
    value: { endpointId: 4, templateHash: 'abc' },
  })
})

test('nothing need be given: the interface has the whole body optional', () => {
  expect(readWorkergroup({ ...emptyWorkergroup, searchParams: '', minLoad: '' })).toEqual({ value: {} })
})

test('numbers that are none, and loads below 0, are told at their field', () => {
  const typed = { ...emptyWorkergroup, endpointName: 'chat', minLoad: '-1', targetUtilisation: 'half' }
  expect(readWorkergroup(typed)).toEqual({
    errors: { minLoad: 'A load is not below 0.', targetUtilisation: expect.any(String) },
  })
})
