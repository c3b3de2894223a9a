import { expect, test } from 'vitest'
import { isPassing, outageWords } from '#contract/outage.ts'

test.each<[string, string, number | undefined]>([
  ['Service is failing (500)', 'server_error', 500],
  ['Service is failing (503)', 'service_unavailable', 503],
  ['Service sends unexpected answers', 'bad_answer', 200],
  ['Service sends unexpected answers', 'bad_answer', undefined],
  ['Service sends unexpected answers', 'not_found', 404],
  ['Service gets too many requests', 'rate_limited', 429],
  ['Service isn’t answering', 'timeout', undefined],
  ['Connection is not secure', 'untrusted_certificate', undefined],
  ['Service can’t be reached', 'offline', undefined],
  ['Service can’t be reached', 'connection_lost', undefined],
])('“%s” is shown for %s, answered with %s', (words, code, answered) => {
  const connection = { status: 'offline', problem: { code, message: 'x' } } as const
  expect(outageWords(answered === undefined ? connection : { ...connection, answered })).toBe(words)
})

test('a named service is the subject, and only what passes needs no advice', () => {
  const offline = (code: string, answered?: number) =>
    ({
      status: 'offline',
      problem: { code, message: 'x' },
      ...(answered !== undefined && { answered }),
    }) as const
  expect(outageWords(offline('timeout'), 'Vast.ai')).toBe('Vast.ai isn’t answering')
  expect(outageWords(offline('untrusted_certificate'), 'Vast.ai')).toBe(
    'The connection to Vast.ai is not secure',
  )
  const passing = [
    offline('timeout'),
    offline('offline'),
    offline('server_error', 503),
    offline('rate_limited', 429),
  ]
  expect(passing.map(isPassing)).toEqual([true, true, true, true])
  const lasting = [offline('untrusted_certificate'), offline('redirected'), offline('not_found', 404)]
  expect(lasting.map(isPassing)).toEqual([false, false, false])
})
