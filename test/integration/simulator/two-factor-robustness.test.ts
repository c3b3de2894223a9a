import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { generated } from './service.ts'
import { startTwoFactor, type TwoFactorSteps } from './two-factor-steps.ts'

let steps: TwoFactorSteps
let known: fc.Arbitrary<unknown>
beforeAll(async () => {
  steps = await startTwoFactor()
  await steps.account({ phone_number: '+15551230009' })
  await steps.authorize()
  const { id, backupCodes } = await steps.addSms('+15551230001')
  const { secret } = await steps.emailProof()
  known = fc.constantFrom(
    id,
    secret,
    await steps.tfaSecret(),
    ...backupCodes,
    '123456',
    '+15551230002',
    'totp',
  )
})
afterAll(() => steps.service.sim.close())

const rows = [
  ['POST', ''],
  ['DELETE', ''],
  ['POST', 'email/'],
  ['POST', 'sms/'],
  ['POST', 'sms/resend/'],
  ['POST', 'totp-setup/'],
  ['POST', 'authorize-new-method/'],
  ['PUT', 'authorize-new-method/'],
  ['POST', 'confirm-new/'],
  ['PUT', 'update/'],
  ['PUT', 'regen-backup-codes/'],
] as const

const strings = 'tfa_method code secret backup_code phone_number label tfa_secret'.split(' ')
const integers = ['tfa_method_id', 'target_id']
const booleans = ['admin', 'is_primary']
const names = fc.constantFrom(...strings, ...integers, ...booleans, 'client_id', '__proto__', 'constructor')
const channels = fc.constantFrom('sms', 'totp', 'email', 'fax')

test('no body makes a two-factor endpoint fail, and every answer is JSON', async () => {
  const value = fc.oneof(known, channels, fc.jsonValue({ maxDepth: 2 }))
  const body = fc.oneof(
    fc.dictionary(names, value, { maxKeys: 6 }),
    fc.jsonValue({ maxDepth: 2 }),
    fc.string(),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...rows), body, fc.boolean(), async ([method, path], sent, withKey) => {
      const { status } = await steps.tfa(method, path, sent, withKey ? undefined : null)
      expect([200, 400, 401, 403, 404, 429]).toContain(status)
    }),
    { numRuns: generated },
  )
})

/** The fields of each row in section 4.7. */
const taken: Record<string, readonly string[]> = {
  'POST ': ['tfa_method', 'code', 'secret', 'tfa_method_id', 'backup_code', 'admin'],
  'DELETE ': ['tfa_method', 'code', 'secret', 'tfa_method_id', 'backup_code', 'target_id'],
  'POST email/': ['secret'],
  'POST sms/': ['phone_number', 'tfa_method_id', 'secret'],
  'POST sms/resend/': ['phone_number', 'tfa_method_id', 'secret'],
  'POST authorize-new-method/': ['tfa_method', 'tfa_method_id', 'backup_code'],
  'PUT authorize-new-method/': ['code', 'secret'],
  'POST confirm-new/': ['tfa_method', 'code', 'secret', 'phone_number', 'label'],
  'PUT update/': ['tfa_method_id', 'tfa_method', 'label', 'is_primary'],
  'PUT regen-backup-codes/': ['tfa_method', 'code', 'secret', 'tfa_method_id', 'backup_code'],
}
const fields = Object.entries(taken).flatMap(([row, list]) => list.map(name => [row, name] as const))

test.each(fields)('%s refuses %s of a wrong type with bad_request', async (row, name) => {
  const [method = '', path = ''] = row.split(' ')
  const right = strings.includes(name) ? 'string' : integers.includes(name) ? 'number' : 'boolean'
  const wrong = fc.jsonValue({ maxDepth: 1 }).filter(value => typeof value !== right)
  await fc.assert(
    fc.asyncProperty(wrong, async value => {
      const { status, body } = await steps.tfa(method, path, { [name]: value })
      expect([status, body['error']]).toEqual([400, 'bad_request'])
    }),
    { numRuns: 12 },
  )
})
