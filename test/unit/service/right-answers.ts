import { expect } from 'vitest'
import type { ServiceClient } from '#service/client.ts'
import type { TemplateBody } from '#service/templates.ts'

const channels = { email: true, webhooks: false }
export const user = { id: 1, email: 'a@b.c', credit: 1.5, tfa_status: 'enabled' }
const done = { success: true }
const hook = { id: 7, name: 'n', webhook_url: 'https://h.example', event_types: ['client:outbid'] }
const template = { id: 3, hash_id: 'h2', name: 't' }
const method = { id: 2, method: 'totp' }
const fields: TemplateBody = {
  ...{ name: 't', image: 'i', runtype: 'ssh' },
  ...{ docker_login_repo: '', docker_login_user: '', docker_login_pass: '' },
}
const charge = { start: 1, end: 2, type: 'instance', source: 'instance-1', amount: 0.5, items: [] }
const invoice = { start: 1, type: 'credit', amount: -25 }
const copy = { src_id: '1', src_path: '/a', dst_id: '2', dst_path: '/b' }
const sync = {
  ...{ instance_id: '1', src: '/a', dst: '/b', selected: '9' },
  ...{ transfer: 'Instance To Cloud', flags: ['-v'], api_key: 'k' },
}

/** A method's request (below `/api/v0` unless it names a version), body, answer, call and result. */
export type Row = [
  request: string,
  sent: unknown,
  answer: unknown,
  call: (client: ServiceClient) => Promise<unknown>,
  gives: unknown,
]

/** Every method of the client, with the rows of section 4 and the known further operations. */
export const rows: Row[] = [
  [
    `GET /charges/?${new URLSearchParams({ select_filters: '{"day":{"gte":1,"lte":2}}', limit: '500' })}`,
    '',
    { results: [charge] },
    c => c.charges.list(1, 2),
    { rows: [charge], whole: true },
  ],
  [
    `GET /api/v1/invoices/?${new URLSearchParams({ select_filters: '{"when":{"gte":1,"lte":2}}', limit: '60' })}`,
    '',
    { results: [invoice] },
    c => c.charges.invoices(1, 2),
    { rows: [invoice], whole: true },
  ],
  ['GET /users/current/', '', user, c => c.account.currentUser(), user],
  [
    'GET /users/1/notification-prefs/',
    '',
    { notification_preferences: { client: { low_credit: channels } } },
    async c => (await c.account.notificationPreferences(1)).known,
    { client: { low_credit: channels } },
  ],
  [
    'PUT /users/1/notification-prefs/',
    { notification_preferences: { client: { low_credit: channels } } },
    { success: true, notification_preferences: { client: { low_credit: channels } } },
    async c =>
      (await c.account.replaceNotificationPreferences(1, { client: { low_credit: channels } })).known,
    { client: { low_credit: channels } },
  ],
  [
    'GET /ssh/',
    '',
    [{ id: 1, key: 'ssh-ed25519 A' }],
    c => c.account.listSshKeys(),
    [{ id: 1, key: 'ssh-ed25519 A', ssh_key: 'ssh-ed25519 A' }],
  ],
  ['POST /ssh/', { ssh_key: 'ssh-ed25519 A' }, done, c => c.account.addSshKey('ssh-ed25519 A'), undefined],
  [
    'POST /auth/apikeys/',
    { name: 'n', permissions: { api: { misc: {} } } },
    { id: 4, key: 'secret', permissions: false },
    c => c.apiKeys.create({ name: 'n', permissions: { api: { misc: {} } } }),
    { id: 4, key: 'secret', permissions: false },
  ],
  ['GET /auth/apikeys/', '', { apikeys: [{ id: 4 }] }, c => c.apiKeys.list(), [{ id: 4 }]],
  ['DELETE /auth/apikeys/4/', '', done, c => c.apiKeys.remove(4), undefined],
  ['GET /webhooks/', '', { webhooks: [hook] }, c => c.webhooks.list(), [hook]],
  [
    'POST /webhooks/',
    { name: 'n', webhook_url: 'https://h.example', event_types: [] },
    { success: true, webhook: hook },
    c => c.webhooks.create({ name: 'n', webhook_url: 'https://h.example', event_types: [] }),
    { webhook: hook, secret: undefined },
  ],
  [
    'POST /webhooks/7/rotate-secret/',
    '',
    { success: true, webhook: { ...hook, webhook_secret: 's' } },
    c => c.webhooks.rotateSecret(7),
    { webhook: hook, secret: 's' },
  ],
  ['POST /webhooks/7/test/', '', { ...done, msg: 'delivered' }, c => c.webhooks.test(7), undefined],
  [
    'GET /volumes/?owner=me&type=all_volume',
    '',
    { volumes: [{ id: 8, instances: [] }] },
    c => c.volumes.list(),
    [{ id: 8, instances: [] }],
  ],
  ['DELETE /volumes/?id=8', { id: 8 }, done, c => c.volumes.remove(8), undefined],
  [
    'GET /instances/pending-price-increases/',
    '',
    { truncated: false, pending_price_increases: [{ pending_price_increase_id: 6, contract_id: 1 }] },
    c => c.priceIncreases.list(),
    { increases: [{ pending_price_increase_id: 6, contract_id: 1 }], whole: true },
  ],
  [
    'PUT /instances/accept-price-increase/',
    { pending_price_increase_id: 6 },
    done,
    c => c.priceIncreases.accept(6),
    undefined,
  ],
  [
    'PUT /instances/reject-price-increase/',
    { pending_price_increase_id: 6 },
    done,
    c => c.priceIncreases.reject(6),
    undefined,
  ],
  [
    'PUT /webhooks/7/',
    { name: 'm' },
    { success: true, webhook: hook, enabled_notification_preferences: [] },
    c => c.webhooks.update(7, { name: 'm' }),
    { webhook: hook, enabled: [] },
  ],
  ['DELETE /webhooks/7/', '', done, c => c.webhooks.remove(7), undefined],
  [
    'POST /bundles/',
    {
      verified: { eq: true },
      num_gpus: { gte: 2 },
      gpu_name: { in: ['A', 'B'] },
      order: [['dlperf_per_dphtotal', 'desc']],
      type: 'bid',
      limit: 5,
      allocated_storage: 20,
    },
    { offers: [{ id: 1 }] },
    c =>
      c.offers.search({
        filters: { verified: { eq: true }, num_gpus: { gte: 2 }, gpu_name: { in: ['A', 'B'] } },
        order: [['dlperf_per_dphtotal', 'desc']],
        type: 'bid',
        limit: 5,
        allocatedStorage: 20,
      }),
    [{ id: 1 }],
  ],
  [
    'PUT /asks/9/',
    { client_id: 'me', image: 'a:b', disk: 20, env: { '-p 80:80': '1' }, label: 'x', price: 0.2 },
    { success: true, new_contract: 11, instance_api_key: 'k' },
    c =>
      c.offers.createInstance(9, {
        image: 'a:b',
        disk: 20,
        env: { '-p 80:80': '1' },
        label: 'x',
        price: 0.2,
      }),
    { success: true, new_contract: 11, instance_api_key: 'k' },
  ],
  [
    'GET /instances/',
    '',
    { instances: [{ id: 1 }] },
    async c => (await c.instances.list()).instances,
    [{ id: 1 }],
  ],
  ['GET /instances/1/', '', { instances: { id: 1 } }, c => c.instances.one(1), { id: 1 }],
  ['PUT /instances/1/', { state: 'stopped' }, done, c => c.instances.stop(1), undefined],
  ['PUT /instances/1/', { state: 'running' }, done, c => c.instances.start(1), { queued: false }],
  ['PUT /instances/1/', { label: 'l' }, done, c => c.instances.rename(1, 'l'), undefined],
  ['DELETE /instances/1/', '', done, c => c.instances.destroy(1), undefined],
  [
    'PUT /instances/request_logs/5/',
    { tail: '1000', daemon_logs: 'true' },
    { ...done, result_url: 'https://logs.example/5' },
    c => c.containerLogs.request(5, true),
    'https://logs.example/5',
  ],
  ['PUT /instances/reboot/1/', '', done, c => c.instances.reboot(1), undefined],
  ['POST /instances/1/ssh/', { ssh_key: 'k' }, done, c => c.instances.attachSshKey(1, 'k'), done],
  [
    'PUT /instances/bid_price/1/',
    { client_id: 'me', price: 0.31 },
    done,
    c => c.instances.changeBid(1, 0.31),
    undefined,
  ],
  ['PUT /commands/copy_direct/', { client_id: 'me', ...copy }, done, c => c.transfers.copy(copy), done],
  [
    'DELETE /commands/copy_direct/',
    { client_id: 'me', dst_id: '2' },
    done,
    c => c.transfers.cancelCopy(2),
    undefined,
  ],
  [
    'POST /commands/rclone/',
    sync,
    { ...done, result_url: 'u' },
    c => c.transfers.cloudSync(sync),
    { ...done, result_url: 'u' },
  ],
  [
    'DELETE /commands/rclone/',
    { client_id: 'me', dst_id: 2 },
    done,
    c => c.transfers.cancelSync(2),
    undefined,
  ],
  ['GET /machines', '', { machines: [{ id: 1 }] }, c => c.machines.list(), [{ id: 1 }]],
  ['GET /network_disk/', '', { network_disks: [{ id: 1 }] }, c => c.machines.listNetworkDisks(), [{ id: 1 }]],
  [
    'POST /network_disk/',
    { mount_point: '/m', machine_ids: [1], disk_id: 2 },
    { ...done, disk_id: 2 },
    c => c.machines.addNetworkDisk({ mount_point: '/m', machine_ids: [1], disk_id: 2 }),
    2,
  ],
  [
    'PUT /machines/5/cancel_maint',
    '',
    { ...done, ctime: 1.5 },
    c => c.machines.cancelMaintenance(5),
    { ...done, ctime: 1.5 },
  ],
  [
    'PUT /machines/5/cleanup',
    {},
    { ...done, num_deleted: 0 },
    c => c.machines.cleanup(5),
    { ...done, num_deleted: 0 },
  ],
  ['GET /template/', '', { templates: [template] }, c => c.templates.search({}), [template]],
  [
    `GET /template/?${new URLSearchParams({ select_filters: '{"use_ssh":{"eq":true}}' })}`,
    '',
    { templates: [] },
    c => c.templates.search({ use_ssh: { eq: true } }),
    [],
  ],
  ['POST /template/', fields, { template }, c => c.templates.create(fields), template],
  [
    'PUT /template/',
    { hash_id: 'h1', desc: 'd' },
    { template },
    c => c.templates.edit('h1', { desc: 'd' }),
    template,
  ],
  ['DELETE /template/', { template_id: 3 }, done, c => c.templates.remove(3), undefined],
  ['GET /workergroups/', '', { results: [{ id: 1 }] }, c => c.workergroups.list(), [{ id: 1 }]],
  ['POST /workergroups/', { min_load: 1 }, {}, c => c.workergroups.create({ min_load: 1 }), {}],
  [
    'GET /tfa/status/',
    '',
    { tfa_enabled: true, methods: [method], backup_codes_remaining: 3, new_method_authorized: false },
    c => c.twoFactor.status(),
    expect.objectContaining({ methods: [method] }),
  ],
  [
    'POST /tfa/',
    { tfa_method: 'totp', code: '123456' },
    { ...user, session_key: 's' },
    c => c.twoFactor.login({ tfa_method: 'totp', code: '123456' }),
    { ...user, session_key: 's' },
  ],
  [
    'DELETE /tfa/',
    { backup_code: 'AAAA-BBBB-CCCC', target_id: 2 },
    { msg: 'm' },
    c => c.twoFactor.removeMethod({ backup_code: 'AAAA-BBBB-CCCC', target_id: 2 }),
    { msg: 'm' },
  ],
  [
    'POST /tfa/email/',
    {},
    { ...done, secret: 's' },
    c => c.twoFactor.sendEmail({}),
    { ...done, secret: 's' },
  ],
  [
    'POST /tfa/sms/',
    { tfa_method_id: 2 },
    { secret: 's' },
    c => c.twoFactor.sendSms({ tfa_method_id: 2 }),
    { secret: 's' },
  ],
  ['POST /tfa/sms/resend/', {}, { secret: 's' }, c => c.twoFactor.resendSms({}), { secret: 's' }],
  [
    'POST /tfa/totp-setup/',
    '',
    { secret: 'B', provisioning_uri: 'otpauth://x' },
    c => c.twoFactor.setUpTotp(),
    { secret: 'B', provisioning_uri: 'otpauth://x' },
  ],
  [
    'POST /tfa/authorize-new-method/',
    { tfa_method: 'email' },
    { ...done, secret: 's' },
    c => c.twoFactor.authorizeNewMethod({ tfa_method: 'email' }),
    { ...done, secret: 's' },
  ],
  [
    'PUT /tfa/authorize-new-method/',
    { code: '123456', secret: 's' },
    done,
    c => c.twoFactor.confirmAuthorization({ code: '123456', secret: 's' }),
    done,
  ],
  [
    'POST /tfa/confirm-new/',
    { tfa_method: 'totp', code: '123456', secret: 's' },
    { ...done, backup_codes: ['a'] },
    c => c.twoFactor.confirmMethod({ tfa_method: 'totp', code: '123456', secret: 's' }),
    { ...done, backup_codes: ['a'] },
  ],
  [
    'PUT /tfa/update/',
    { tfa_method_id: 2, is_primary: true },
    { ...done, method },
    c => c.twoFactor.updateMethod({ tfa_method_id: 2, is_primary: true }),
    { ...done, method },
  ],
  [
    'PUT /tfa/regen-backup-codes/',
    { code: '123456' },
    { backup_codes: ['a'] },
    c => c.twoFactor.regenerateBackupCodes({ code: '123456' }),
    { backup_codes: ['a'] },
  ],
]
