import { expect, test } from 'vitest'
import { errorsAt } from '#renderer/features/limits/watchdog/watchdogForm.ts'

test('a refused time is an error at its field, after errors of the typed values', () => {
  const refused = { message: 'That time has passed already.', field: 'request.at' }
  expect(errorsAt(undefined, refused)).toEqual({ hours: refused.message })
  expect(errorsAt({ hours: 'At most 90 days.', below: 'A percent.' }, refused)).toEqual({
    hours: 'At most 90 days.',
    below: 'A percent.',
  })
  expect(errorsAt(undefined, { message: 'No.', field: 'request.lease' })).toBeUndefined()
  expect(errorsAt(undefined, undefined)).toBeUndefined()
})
