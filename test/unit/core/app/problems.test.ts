import { expect, test } from 'vitest'
import { problemOf } from '#core/app/problems.ts'
import { errorSentence } from '#service/http/sentences.ts'
import { ServiceError } from '#service/service-error.ts'

test.each([
  ['refused', 'The service says'],
  ['not_found', 'The service says'],
  ['bad_answer', 'Details'],
  ['not_this_service', 'Details'],
] as const)('the detail of %s is shown under “%s”', (code, label) => {
  const error = new ServiceError({ code, status: 400, ...errorSentence(code), detail: 'some detail' })
  expect(problemOf(error)).toMatchObject({ code, facts: { [label]: 'some detail' } })
  expect(Object.keys(problemOf(error).facts ?? {})).toEqual([label])
})
