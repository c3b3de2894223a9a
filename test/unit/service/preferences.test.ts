import { expect, test } from 'vitest'
import { preferencesAnswer, withChanges } from '#service/preferences.ts'

/** What a later version of a deployment may send. */
const raw = {
  version: 3,
  host: null,
  client: {
    low_credit: { email: true, webhooks: 'daily', sms: true },
    outbid: null,
    digest: 'weekly',
  },
}

const read = (whole: unknown) => preferencesAnswer.read({ notification_preferences: whole })

test('what is not known of the preferences hides nothing that is', () => {
  expect(preferencesAnswer.problem({ notification_preferences: raw })).toBeUndefined()
  expect(read(raw).known).toEqual({ client: { low_credit: { email: true }, outbid: {} } })
})

test('a change keeps all that it does not name, known or not', () => {
  const changes = {
    client: { low_credit: { email: false }, outbid: { email: true, webhooks: null } },
    host: { machine_offline: { webhooks: true } },
  }
  expect(withChanges(read(raw), changes)).toEqual({
    version: 3,
    host: { machine_offline: { webhooks: true } },
    client: {
      low_credit: { email: false, webhooks: 'daily', sms: true },
      outbid: { email: true, webhooks: null },
      digest: 'weekly',
    },
  })
  expect(withChanges(read(raw), {})).toEqual(raw)
})

test('names that objects have by themselves are names like others', () => {
  const odd: unknown = JSON.parse('{"__proto__":{"low_credit":{"email":true}}}')
  const changed = withChanges(read(odd), { constructor: { low_credit: { email: false } } })
  expect(JSON.stringify(changed)).toBe(
    '{"__proto__":{"low_credit":{"email":true}},"constructor":{"low_credit":{"email":false}}}',
  )
})
