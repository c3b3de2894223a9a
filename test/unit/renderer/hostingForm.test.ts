import { expect, test } from 'vitest'
import { emptyWorkergroup, readDisk, readWorkergroup } from '#renderer/screens/hosting/hostingForm.ts'

const disk = { onto: 'new', disk: '', mountPoint: '/mnt/a', chosen: [], typed: '' } as const

test('the chosen and the typed machines are merged without duplicates', () => {
  expect(readDisk({ ...disk, chosen: [5], typed: '5, 6 #7' })).toEqual({
    value: { mountPoint: '/mnt/a', machines: [5, 6, 7] },
  })
  expect(readDisk({ ...disk, chosen: [] })).toEqual({ errors: { machines: 'Enter at least one machine.' } })
  expect(readDisk({ ...disk, chosen: [], typed: 'rack' })).toEqual({
    errors: { machines: 'An id is a number.' },
  })
})

test('an existing disk needs its id', () => {
  expect(readDisk({ ...disk, onto: 'existing', typed: '5', chosen: [] })).toEqual({
    errors: { disk: 'An id is a number.' },
  })
  expect(readDisk({ ...disk, onto: 'existing', disk: '300', typed: '5', chosen: [] })).toMatchObject({
    value: { disk: 300 },
  })
})

test('of two alternatives only the shown one is sent', () => {
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

test('an empty body is valid, as every field is optional', () => {
  expect(readWorkergroup({ ...emptyWorkergroup, searchParams: '', minLoad: '' })).toEqual({ value: {} })
})

test('invalid numbers and negative loads are errors at their fields', () => {
  const typed = { ...emptyWorkergroup, endpointName: 'chat', minLoad: '-1', targetUtilisation: 'half' }
  expect(readWorkergroup(typed)).toEqual({
    errors: { minLoad: 'A load is not below 0.', targetUtilisation: expect.any(String) },
  })
})
