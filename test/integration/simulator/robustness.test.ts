import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { publicProfile } from '#simulator/deployment.ts'
import { routes } from '#simulator/routes/routes.ts'
import { generated } from './service.ts'
import { startTwoFactor, type TwoFactorSteps } from './two-factor-steps.ts'

const controls = 'clock account outbid credit top-up faults'.split(' ')
const names = fc.constantFrom(
  ...(
    'client_id price state label image disk env onstart runtype template_hash_id volume_info extra_filters ssh_key ' +
    'order type limit allocated_storage gpu_name verified advance actual_status legacy instance_id credit amount rules ' +
    'q id ids instance_ids size name create_new volume_id mount_path tail filter hash_id template_id ' +
    'pending_price_increase_id webhook_url event_types src_id dst_id src_path dst_path tfa_method code secret ' +
    'backup_code phone_number tfa_secret tfa_method_id target_id admin is_primary __proto__ constructor'
  ).split(' '),
)
const query = fc.dictionary(
  fc.constantFrom('limit', 'after_token', 'order_by', 'select_cols', 'select_filters', 'latest_first', 'id'),
  fc.oneof(fc.string(), fc.json({ maxDepth: 3 })),
  { maxKeys: 4 },
)

describe.each([
  ['interface', {}],
  ['public', { deployment: publicProfile }],
])('on the %s profile', (profile, options) => {
  let steps: TwoFactorSteps
  /** What is there, to get past the first checks. */
  let known: fc.Arbitrary<unknown>
  let id: number
  beforeAll(async () => {
    steps = await startTwoFactor({ offers: 20, ...options })
    id = (await steps.service.rent({ price: 20 })).id
    const fixed = ['123456', '+15551230002', 'totp', 'sms', 'email', id]
    if (profile === 'public') known = fc.constantFrom(...fixed)
    else {
      await steps.account({ phone_number: '+15551230009' })
      await steps.authorize()
      const { backupCodes } = await steps.addSms('+15551230001')
      const { secret } = await steps.emailProof()
      known = fc.constantFrom(...fixed, secret, await steps.tfaSecret(), ...backupCodes)
    }
  })
  afterAll(() => steps.service.sim.close())

  test('no request makes the simulator fail, and every answer is JSON', async () => {
    const own = routes.filter(({ only }) => only === undefined || only === profile)
    const asked = [
      ...own.map(({ method, path, version = 'v0' }) => ({ method, path: `/api/${version}${path}` })),
      ...[...controls, 'instances/:id'].map(name => ({ method: 'POST', path: `/sim/${name}` })),
    ]
    const value = fc.oneof(known, fc.jsonValue({ maxDepth: 3 }))
    const body = fc.oneof(
      { weight: 4, arbitrary: fc.dictionary(names, value, { maxKeys: 6 }) },
      fc.jsonValue({ maxDepth: 2 }),
      fc.string(),
    )
    const request = fc.record({ route: fc.constantFrom(...asked), body, query, isKnown: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(request, fc.nat(3), async ({ route, body, query, isKnown }, keyless) => {
        const { method, path } = route
        const address = `${path.replace(/:\w+/g, isKnown ? String(id) : '7')}?${new URLSearchParams(query)}`
        const sent = method === 'GET' ? undefined : body
        const { status } = await steps.service.call(method, address, sent, keyless === 0 ? null : undefined)
        expect([200, 400, 401, 403, 404, 410, 415, 422, 429], `${method} ${address}`).toContain(status)
      }),
      { numRuns: 2 * generated },
    )
  })
})

test.each([
  '/api/v0/instances/%zz/',
  '/api/v0/instances/-1/',
  '/api/v0/instances/1e3/',
  `/api/v0/instances/${'9'.repeat(30)}/`,
])('%s has a malformed id and answers 400', async path => {
  const { service } = await startTwoFactor()
  try {
    expect((await service.call('GET', path)).status).toBe(400)
  } finally {
    await service.sim.close()
  }
})
