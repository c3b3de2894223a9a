import { expect, test } from 'vitest'
import { outageWords } from '#contract/outage.ts'

test.each<[string, string, number | undefined]>([
  ['Service fails (500)', 'server_error', 500],
  ['Service fails (503)', 'service_unavailable', 503],
  ['Service answers something unexpected', 'bad_answer', 200],
  ['Service answers something unexpected', 'bad_answer', undefined],
  ['Service answers something unexpected', 'not_found', 404],
  ['Service is asked too often', 'rate_limited', 429],
  ['Service does not answer', 'timeout', undefined],
  ['Connection is not secure', 'untrusted_certificate', undefined],
  ['Service cannot be reached', 'offline', undefined],
  ['Service cannot be reached', 'connection_lost', undefined],
])('“%s” is shown for %s, answered with %s', (words, code, answered) => {
  const connection = { status: 'offline', problem: { code, message: 'x' } } as const
  expect(outageWords(answered === undefined ? connection : { ...connection, answered })).toBe(words)
})
