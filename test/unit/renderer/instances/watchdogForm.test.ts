import { expect, test } from 'vitest'
import { errorsAt } from '../../../../renderer/features/guards/watchdog/watchdogForm.ts'

test('a time that Berth refuses is told at its field, and what is typed wrong before that', () => {
  const refused = { message: 'That time has passed already.', field: 'request.at' }
  expect(errorsAt(undefined, refused)).toEqual({ hours: refused.message })
  expect(errorsAt({ hours: 'At most 90 days.', below: 'A percent.' }, refused)).toEqual({
    hours: 'At most 90 days.',
    below: 'A percent.',
  })
  expect(errorsAt(undefined, { message: 'No.', field: 'request.lease' })).toBeUndefined()
  expect(errorsAt(undefined, undefined)).toBeUndefined()
})
