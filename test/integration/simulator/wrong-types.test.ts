import fc from 'fast-check'
import ssh2 from 'ssh2'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { routes } from '#simulator/routes/routes.ts'
import { generated, type Service, startService } from './service.ts'

let service: Service
/** Values for `:name` in paths. */
let ids: Record<string, number>
beforeAll(async () => {
  service = await startService()
  const { id } = await service.rent({ price: 20 })
  const [offer] = await service.offers({ limit: 1 })
  await service.sim.controls.advance(300)
  const { body } = await service.call('POST', '/api/v0/webhooks/', {
    ...{ name: 'x', webhook_url: 'https://x.example', event_types: [] },
  })
  const { body: hosting } = await service.call('GET', '/api/v0/machines')
  ids = {
    id,
    offer: offer?.id ?? 0,
    user: service.sim.userId,
    webhook: (body['webhook'] as { id: number }).id,
    machine: (hosting['machines'] as { id: number }[])[0]?.id ?? 0,
  }
})
afterAll(() => service.sim.close())

const integer = (value: unknown) => Number.isSafeInteger(value)
const is = {
  string: (value: unknown) => typeof value === 'string',
  number: (value: unknown) => typeof value === 'number',
  boolean: (value: unknown) => typeof value === 'boolean',
  integer,
  object: (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value),
  maybeObject: (value: unknown) => typeof value === 'object' && !Array.isArray(value),
  maybeString: (value: unknown) => value === null || typeof value === 'string',
  array: Array.isArray,
  strings: (value: unknown) => Array.isArray(value) && value.every(item => typeof item === 'string'),
  integers: (value: unknown) => Array.isArray(value) && value.every(integer),
}
type Kind = keyof typeof is

const templateKinds: Record<string, Kind> = {
  ...{ name: 'string', image: 'string', tag: 'string', desc: 'string', readme: 'string', env: 'string' },
  ...{ onstart: 'string', runtype: 'string', args_str: 'string', ssh_direct: 'boolean', use_ssh: 'boolean' },
  ...{ jup_direct: 'boolean', jupyter_dir: 'maybeString', use_jupyter_lab: 'boolean' },
  ...{ docker_login_repo: 'string', docker_login_user: 'string', docker_login_pass: 'string' },
  ...{ href: 'string', repo: 'string', extra_filters: 'object', recommended_disk_space: 'number' },
  ...{ private: 'boolean', volume_info: 'maybeObject' },
}

const publicKey = ssh2.utils.generateKeyPairSync('ed25519').public

/** The types of the fields in the two-factor endpoints of section 4.7. */
const twoFactorKinds: Record<string, Kind> = {
  ...{ tfa_method: 'string', code: 'string', secret: 'string', backup_code: 'string', label: 'string' },
  ...{ phone_number: 'string', tfa_method_id: 'integer', target_id: 'integer' },
  ...{ admin: 'boolean', is_primary: 'boolean' },
}
const twoFactor = (fields: string) => ({
  kinds: Object.fromEntries(fields.split(' ').map(name => [name, twoFactorKinds[name] ?? 'string'])),
})

/**
 * Every endpoint with a body: a valid one (`@id` and `@machine` are filled in) if it needs no code, and the types of its
 * fields.
 */
const endpoints: Record<string, { good?: Record<string, unknown>; kinds: Record<string, Kind> }> = {
  'POST /auth/apikeys/': {
    good: { name: 'x', permissions: { api: { misc: {} } } },
    kinds: { name: 'string', permissions: 'object', key_params: 'object' },
  },
  'PUT /users/:user/notification-prefs/': {
    good: { notification_preferences: {} },
    kinds: { notification_preferences: 'object' },
  },
  'POST /webhooks/': {
    good: { name: 'x', webhook_url: 'https://x.example', event_types: ['client:outbid'] },
    kinds: { name: 'string', webhook_url: 'string', event_types: 'strings' },
  },
  'PUT /webhooks/:webhook/': {
    good: { name: 'x' },
    kinds: { name: 'string', webhook_url: 'string', event_types: 'strings' },
  },
  'POST /bundles/': {
    good: { limit: 1 },
    kinds: {
      ...{ verified: 'object', rentable: 'object', gpu_name: 'object', num_gpus: 'object' },
      ...{ direct_port_count: 'object', order: 'array', type: 'string', limit: 'integer' },
      allocated_storage: 'number',
    },
  },
  'PUT /asks/:offer/': {
    good: { image: 'ubuntu' },
    kinds: {
      ...templateKinds,
      ...{ env: 'object', disk: 'number', label: 'string', price: 'number', cancel_unavail: 'boolean' },
      ...{ target_state: 'string', template_hash_id: 'string', runtype: 'string' },
    },
  },
  'PUT /instances/:id/': { good: { label: 'x' }, kinds: { label: 'string', state: 'string' } },
  'POST /instances/:id/ssh/': { good: { ssh_key: publicKey }, kinds: { ssh_key: 'string' } },
  'PUT /instances/bid_price/:id/': {
    good: { client_id: 'me', price: 20 },
    kinds: { client_id: 'string', price: 'number' },
  },
  'PUT /instances/reboot/:id/': { good: {}, kinds: { client_id: 'string' } },
  'POST /overlay/': {
    good: { cluster_id: 1, name: 'x' },
    kinds: { cluster_id: 'integer', name: 'string' },
  },
  'PUT /overlay/': {
    good: { name: 'x', instance_id: 1 },
    kinds: { name: 'string', instance_id: 'integer' },
  },
  'DELETE /overlay/': { good: { overlay_id: 1 }, kinds: { overlay_id: 'integer' } },
  'POST /ssh/': { good: { ssh_key: publicKey }, kinds: { ssh_key: 'string' } },
  'PUT /commands/copy_direct/': {
    good: { src_path: '/a', dst_path: '/b', dst_id: '1' },
    kinds: { src_path: 'string', dst_path: 'string', src_id: 'string', dst_id: 'string' },
  },
  'DELETE /commands/copy_direct/': { good: { dst_id: '1' }, kinds: { dst_id: 'string' } },
  'POST /commands/rclone/': {
    good: { instance_id: '@id', src: '/a', dst: '/b', selected: '1', transfer: 'Instance To Cloud' },
    kinds: {
      ...{ instance_id: 'string', src: 'string', dst: 'string', selected: 'string', transfer: 'string' },
      ...{ flags: 'strings', api_key: 'string' },
    },
  },
  'DELETE /commands/rclone/': { good: { dst_id: 1 }, kinds: { dst_id: 'integer' } },
  'PUT /machines/:machine/cancel_maint/': { good: {}, kinds: { client_id: 'string' } },
  'PUT /machines/:machine/cleanup/': { good: {}, kinds: { client_id: 'string' } },
  'POST /network_disk/': {
    good: { mount_point: '/mnt', machine_id: '@machine' },
    kinds: { mount_point: 'string', machine_id: 'integer', machine_ids: 'integers', disk_id: 'integer' },
  },
  'POST /template/': {
    good: { name: 'x', image: 'x', docker_login_repo: '', docker_login_user: '', docker_login_pass: '' },
    kinds: templateKinds,
  },
  'PUT /template/': { good: { hash_id: 'x' }, kinds: { ...templateKinds, hash_id: 'string' } },
  'DELETE /template/': { good: { template_id: 1 }, kinds: { template_id: 'integer' } },
  'POST /tfa/': twoFactor('tfa_method code secret tfa_method_id backup_code admin'),
  'DELETE /tfa/': twoFactor('tfa_method code secret tfa_method_id backup_code target_id'),
  'POST /tfa/email/': twoFactor('secret'),
  'POST /tfa/sms/': twoFactor('phone_number tfa_method_id secret'),
  'POST /tfa/sms/resend/': twoFactor('phone_number tfa_method_id secret'),
  'POST /tfa/authorize-new-method/': twoFactor('tfa_method tfa_method_id backup_code'),
  'PUT /tfa/authorize-new-method/': twoFactor('code secret'),
  'POST /tfa/confirm-new/': twoFactor('tfa_method code secret phone_number label'),
  'PUT /tfa/update/': twoFactor('tfa_method_id tfa_method label is_primary'),
  'PUT /tfa/regen-backup-codes/': twoFactor('tfa_method code secret tfa_method_id backup_code'),
  'POST /workergroups/': {
    good: {},
    kinds: {
      ...{ endpoint_name: 'string', endpoint_id: 'integer', template_hash: 'string', template_id: 'integer' },
      ...{ search_params: 'string', launch_args: 'string', min_load: 'number', target_util: 'number' },
    },
  },
}

test('all endpoints of the interface with a body are above', () => {
  const named = routes
    .filter(({ only }) => only === undefined)
    .map(({ method, path }) => `${method} ${path}`)
    .filter(name => !name.startsWith('GET '))
  const withoutBody = [
    'POST /tfa/totp-setup/',
    'DELETE /auth/apikeys/:key/',
    'DELETE /webhooks/:webhook/',
    'DELETE /instances/:id/',
  ]
  expect(Object.keys(endpoints).toSorted()).toEqual(
    named.filter(name => !withoutBody.includes(name)).toSorted(),
  )
})

async function send(name: string, body: unknown) {
  const [method = '', path = ''] = name.split(' ')
  const filled = path.replace(/:(\w+)/g, (_, id: string) => String(ids[id]))
  const text = JSON.stringify(body)
    .replace('"@id"', `"${ids['id']}"`)
    .replace('"@machine"', `${ids['machine']}`)
  return await service.call(method, `/api/v0${filled}`, text)
}

const complete = Object.keys(endpoints).filter(name => endpoints[name]?.good)

test.each(complete)('%s accepts the valid body that is spoiled below', async name => {
  await service.sim.controls.advance(60) // until the instance runs again
  expect([200, 404]).toContain((await send(name, endpoints[name]?.good)).status)
})

test.each(Object.keys(endpoints))('%s refuses a body with a field of a wrong type', async name => {
  const { good = {}, kinds = {} } = endpoints[name] ?? {}
  const isTwoFactor = name.includes(' /tfa/')
  const all = isTwoFactor ? kinds : { ...kinds, client_id: 'string' }
  const wrong = fc.constantFrom(...Object.keys(all)).chain(field =>
    fc.tuple(
      fc.constant(field),
      fc.jsonValue({ maxDepth: 2 }).filter(value => !is[kinds[field] ?? 'string'](value)),
    ),
  )
  await fc.assert(
    fc.asyncProperty(wrong, async ([field, value]) => {
      const { status, body } = await send(name, { ...good, [field]: value })
      expect([status, body['success']], JSON.stringify(body)).toEqual([400, false])
      if (isTwoFactor) expect(body['error']).toBe('bad_request')
    }),
    { numRuns: generated / 10 },
  )
})

test.each(Object.keys(endpoints))('%s refuses a body that is not a JSON object', async name => {
  const nonsense = fc.jsonValue({ maxDepth: 1 }).filter(value => !is.object(value))
  await fc.assert(
    fc.asyncProperty(nonsense, async value => {
      expect((await send(name, value)).status).toBe(400)
    }),
    { numRuns: 15 },
  )
})
