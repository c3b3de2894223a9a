import * as v from 'valibot'
import { expect, test } from 'vitest'
import { firstPart, number, readForm, wrongIn } from '#renderer/components/fields/readForm.ts'

const Request = v.object({
  name: v.pipe(v.string(), v.trim(), v.nonEmpty('enter a name'), v.maxLength(3, 'at most 3 letters')),
  limits: v.object({ seconds: v.pipe(v.number('enter the minutes'), v.minValue(60, 'at least a minute')) }),
  ids: v.array(v.number('an id is a number!')),
})

test('a valid form gives the schema’s value in the schema’s units', () => {
  const draft = { name: ' a ', limits: { seconds: number('1.5 ', 60) }, ids: [] }
  expect(readForm(Request, draft)).toEqual({ value: { name: 'a', limits: { seconds: 90 }, ids: [] } })
})

test('each invalid field has one sentence from the schema', () => {
  const draft = { name: '', limits: { seconds: number('', 60) }, ids: [1, Number.NaN] }
  expect(readForm(Request, draft)).toEqual({
    errors: { name: 'Enter a name.', 'limits.seconds': 'Enter the minutes.', 'ids.1': 'An id is a number!' },
  })
  expect(readForm(Request, draft, firstPart).errors).toHaveProperty('ids', 'An id is a number!')
})

test('a single field can be checked alone', () => {
  expect(wrongIn(Request.entries.name, 'abcd')).toBe('At most 3 letters.')
  expect(wrongIn(Request.entries.name, 'abc')).toBeUndefined()
})
