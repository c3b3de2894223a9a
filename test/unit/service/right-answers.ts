import { expect } from 'vitest'
import type { FullClient } from '#service/client.ts'
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
  call: (client: FullClient) => Promise<unknown>,
  gives: unknown,
]

/** A row of a method that, by default, sends nothing, gets a success, and returns the answer. */
function row(
  request: string,
  call: Row[3],
  { sent = '', ...told }: { sent?: unknown; answer?: unknown; gives?: unknown } = {},
): Row {
  const answer = 'answer' in told ? told.answer : done
  return [request, sent, answer, call, 'gives' in told ? told.gives : told.answer]
}

/** A row of a list below a name. */
const list = (request: string, call: Row[3], name: string, item: unknown): Row =>
  row(request, call, { answer: { [name]: [item] }, gives: [item] })

/** Every method of the client, with the rows of section 4 and the known further operations. */
export const rows: Row[] = [
  row(
    `GET /charges/?${new URLSearchParams({ select_filters: '{"day":{"gte":1,"lte":2}}', limit: '500' })}`,
    c => c.charges.list(1, 2),
    { answer: { results: [charge] }, gives: { rows: [charge], whole: true } },
  ),
  row(
    `GET /api/v1/invoices/?${new URLSearchParams({ select_filters: '{"when":{"gte":1,"lte":2}}', limit: '60' })}`,
    c => c.charges.invoices(1, 2),
    { answer: { results: [invoice] }, gives: { rows: [invoice], whole: true } },
  ),
  row('GET /users/current/', c => c.account.currentUser(), { answer: user }),
  row('GET /users/1/notification-prefs/', async c => (await c.account.notificationPreferences(1)).known, {
    answer: { notification_preferences: { client: { low_credit: channels } } },
    gives: { client: { low_credit: channels } },
  }),
  row(
    'PUT /users/1/notification-prefs/',
    async c =>
      (await c.account.replaceNotificationPreferences(1, { client: { low_credit: channels } })).known,
    {
      sent: { notification_preferences: { client: { low_credit: channels } } },
      answer: { success: true, notification_preferences: { client: { low_credit: channels } } },
      gives: { client: { low_credit: channels } },
    },
  ),
  row('GET /ssh/', c => c.account.listSshKeys(), {
    answer: [{ id: 1, key: 'ssh-ed25519 A' }],
    gives: [{ id: 1, key: 'ssh-ed25519 A', ssh_key: 'ssh-ed25519 A' }],
  }),
  row('GET /overlay/', c => c.overlays.list(), {
    answer: [
      { overlay_id: 3, name: 'berth-1', cluster_id: 7, internal_subnet: '10.0.3.0/24', instances: [1] },
    ],
  }),
  row('POST /overlay/', c => c.overlays.create(7, 'berth-1'), {
    sent: { cluster_id: 7, name: 'berth-1' },
    answer: { msg: 'Created' },
    gives: undefined,
  }),
  row('PUT /overlay/', c => c.overlays.join('berth-1', 4), { sent: { name: 'berth-1', instance_id: 4 } }),
  row('DELETE /overlay/', c => c.overlays.remove(3), {
    sent: { overlay_id: 3 },
    answer: { msg: 'Gone' },
    gives: undefined,
  }),
  row('POST /ssh/', c => c.account.addSshKey('ssh-ed25519 A'), { sent: { ssh_key: 'ssh-ed25519 A' } }),
  row('POST /auth/apikeys/', c => c.apiKeys.create({ name: 'n', permissions: { api: { misc: {} } } }), {
    sent: { name: 'n', permissions: { api: { misc: {} } } },
    answer: { id: 4, key: 'secret', permissions: false },
  }),
  list('GET /auth/apikeys/', c => c.apiKeys.list(), 'apikeys', { id: 4 }),
  row('DELETE /auth/apikeys/4/', c => c.apiKeys.remove(4)),
  list('GET /webhooks/', c => c.webhooks.list(), 'webhooks', hook),
  row(
    'POST /webhooks/',
    c => c.webhooks.create({ name: 'n', webhook_url: 'https://h.example', event_types: [] }),
    {
      sent: { name: 'n', webhook_url: 'https://h.example', event_types: [] },
      answer: { success: true, webhook: hook },
      gives: { webhook: hook, secret: undefined },
    },
  ),
  row('POST /webhooks/7/rotate-secret/', c => c.webhooks.rotateSecret(7), {
    answer: { success: true, webhook: { ...hook, webhook_secret: 's' } },
    gives: { webhook: hook, secret: 's' },
  }),
  row('POST /webhooks/7/test/', c => c.webhooks.test(7), {
    answer: { ...done, msg: 'delivered' },
    gives: undefined,
  }),
  list('GET /volumes/?owner=me&type=all_volume', c => c.volumes.list(), 'volumes', { id: 8, instances: [] }),
  row('GET /secrets/', c => c.environment.names(), {
    answer: { success: true, secrets: { B: '********', A: null, 'not a name': 'x' } },
    gives: ['A', 'B'],
  }),
  row('POST /secrets/', c => c.environment.add('A', 'v'), { sent: { key: 'A', value: 'v' } }),
  row('PUT /secrets/', c => c.environment.change('A', 'v'), { sent: { key: 'A', value: 'v' } }),
  row('DELETE /secrets/', c => c.environment.remove('A'), { sent: { key: 'A' } }),
  row('PUT /machines/7/report', c => c.instances.report(5, 7, { problem: 'Other', message: '' }), {
    sent: { instance_id: 5, problem: 'Other' },
  }),
  row('POST /api/v1/templates/fetch-tags', c => c.registries.tags('a/b'), {
    sent: { image: 'a/b' },
    answer: { success: true, tags: ['latest'] },
    gives: ['latest'],
  }),
  row(
    'POST /api/v1/templates/validate-auth',
    c => c.registries.takes({ server: 'r.example', user: 'u', token: 'secret' }),
    {
      sent: { server: 'r.example', username: 'u', token: 'secret' },
      answer: { success: true, authenticated: true, repositories: [] },
      gives: true,
    },
  ),
  list('GET /instance_backups/', c => c.records.backups(), 'backups', {
    contract_id: 7,
    status: 'success',
    type: 'instance',
  }),
  row('PUT /instances/prepay/5/', c => c.instances.prepay(5, 50), {
    sent: { amount: 50 },
    answer: { success: true, timescale: 0.5, discount_rate: 0.1 },
    gives: { months: 0.5, discount: 0.1 },
  }),
  row('GET /instances/balance/5/', c => c.instances.prepaid(5), {
    answer: { success: true, refundable_deposit: 12.5, total_discount: 2.1, discount_months: 1.5 },
    gives: { refundable: 12.5, saved: 2.1 },
  }),
  row('DELETE /volumes/?id=8', c => c.volumes.remove(8), { sent: { id: 8 } }),
  row('POST /machines/maintenances', c => c.machines.maintenances([5, 6]), {
    sent: { machine_ids: [5, 6] },
    answer: [{ id: 1, machine_id: 5, start_time: 1_800_000_000, duration_hours: 2 }],
  }),
  row('PUT /bundles_bid_price/9/', c => c.offers.recommendedBid(9), { sent: {}, answer: 0.42 }),
  row('DELETE /ssh/4/', c => c.account.removeSshKey(4), { gives: undefined }),
  row('GET /commands/schedule_job/', c => c.records.scheduledJobs(), { answer: [{ id: 5, instance_id: 1 }] }),
  row('DELETE /commands/schedule_job/5/', c => c.records.removeScheduledJob(5), { gives: undefined }),
  row('GET /audit_logs/', c => c.records.auditLog(), {
    answer: [{ api_route: '/instances/1/', created_at: '2026-11-29T09:00:00Z', api_key_id: 3 }],
  }),
  row('GET /instances/pending-price-increases/', c => c.priceIncreases.list(), {
    answer: { truncated: false, pending_price_increases: [{ pending_price_increase_id: 6, contract_id: 1 }] },
    gives: { increases: [{ pending_price_increase_id: 6, contract_id: 1 }], whole: true },
  }),
  row('PUT /instances/accept-price-increase/', c => c.priceIncreases.accept(6), {
    sent: { pending_price_increase_id: 6 },
  }),
  row('PUT /instances/reject-price-increase/', c => c.priceIncreases.reject(6), {
    sent: { pending_price_increase_id: 6 },
  }),
  row('PUT /webhooks/7/', c => c.webhooks.update(7, { name: 'm' }), {
    sent: { name: 'm' },
    answer: { success: true, webhook: hook, enabled_notification_preferences: [] },
    gives: { webhook: hook, enabled: [] },
  }),
  row('DELETE /webhooks/7/', c => c.webhooks.remove(7)),
  row(
    'POST /bundles/',
    c =>
      c.offers.search({
        filters: { verified: { eq: true }, num_gpus: { gte: 2 }, gpu_name: { in: ['A', 'B'] } },
        order: [['dlperf_per_dphtotal', 'desc']],
        type: 'bid',
        limit: 5,
        allocatedStorage: 20,
      }),
    {
      sent: {
        verified: { eq: true },
        num_gpus: { gte: 2 },
        gpu_name: { in: ['A', 'B'] },
        order: [['dlperf_per_dphtotal', 'desc']],
        type: 'bid',
        limit: 5,
        allocated_storage: 20,
      },
      answer: { offers: [{ id: 1 }] },
      gives: [{ id: 1 }],
    },
  ),
  row(
    'PUT /asks/9/',
    c =>
      c.offers.createInstance(9, {
        image: 'a:b',
        disk: 20,
        env: { '-p 80:80': '1' },
        label: 'x',
        price: 0.2,
      }),
    {
      sent: { client_id: 'me', image: 'a:b', disk: 20, env: { '-p 80:80': '1' }, label: 'x', price: 0.2 },
      answer: { success: true, new_contract: 11, instance_api_key: 'k' },
    },
  ),
  list('GET /instances/', async c => (await c.instances.list()).instances, 'instances', { id: 1 }),
  row('GET /instances/1/', c => c.instances.one(1), { answer: { instances: { id: 1 } }, gives: { id: 1 } }),
  row('PUT /instances/1/', c => c.instances.stop(1), { sent: { state: 'stopped' } }),
  row('PUT /instances/1/', c => c.instances.start(1), {
    sent: { state: 'running' },
    answer: done,
    gives: { queued: false },
  }),
  row('PUT /instances/1/', c => c.instances.rename(1, 'l'), { sent: { label: 'l' } }),
  row('DELETE /instances/1/', c => c.instances.destroy(1)),
  row('PUT /instances/request_logs/5/', c => c.containerLogs.request(5, true), {
    sent: { tail: '1000', daemon_logs: 'true' },
    answer: { ...done, result_url: 'https://logs.example/5' },
    gives: 'https://logs.example/5',
  }),
  row('PUT /instances/reboot/1/', c => c.instances.reboot(1)),
  row('POST /instances/1/ssh/', c => c.instances.attachSshKey(1, 'k'), {
    sent: { ssh_key: 'k' },
    answer: done,
  }),
  row('PUT /instances/bid_price/1/', c => c.instances.changeBid(1, 0.31), {
    sent: { client_id: 'me', price: 0.31 },
  }),
  row('PUT /commands/copy_direct/', c => c.transfers.copy(copy), {
    sent: { client_id: 'me', ...copy },
    answer: done,
  }),
  row('DELETE /commands/copy_direct/', c => c.transfers.cancelCopy(2), {
    sent: { client_id: 'me', dst_id: '2' },
  }),
  row('POST /commands/rclone/', c => c.transfers.cloudSync(sync), {
    sent: sync,
    answer: { ...done, result_url: 'u' },
  }),
  row('DELETE /commands/rclone/', c => c.transfers.cancelSync(2), { sent: { client_id: 'me', dst_id: 2 } }),
  row('GET /users/cloud_integrations/', c => c.transfers.connections(), {
    answer: { connections: [{ id: 12, cloud_type: 's3' }, { id: 'b' }] },
    gives: [{ id: 12, cloud_type: 's3' }, { id: 'b' }],
  }),
  list('GET /machines', c => c.machines.list(), 'machines', { id: 1 }),
  list('GET /network_disk/', c => c.machines.listNetworkDisks(), 'network_disks', { id: 1 }),
  row(
    'POST /network_disk/',
    c => c.machines.addNetworkDisk({ mount_point: '/m', machine_ids: [1], disk_id: 2 }),
    { sent: { mount_point: '/m', machine_ids: [1], disk_id: 2 }, answer: { ...done, disk_id: 2 }, gives: 2 },
  ),
  row('PUT /machines/5/cancel_maint', c => c.machines.cancelMaintenance(5), {
    answer: { ...done, ctime: 1.5 },
  }),
  row('PUT /machines/5/cleanup', c => c.machines.cleanup(5), {
    sent: {},
    answer: { ...done, num_deleted: 0 },
  }),
  list('GET /template/', c => c.templates.search({}), 'templates', template),
  row(
    `GET /template/?${new URLSearchParams({ select_filters: '{"use_ssh":{"eq":true}}' })}`,
    c => c.templates.search({ use_ssh: { eq: true } }),
    { answer: { templates: [] }, gives: [] },
  ),
  row('POST /template/', c => c.templates.create(fields), {
    sent: fields,
    answer: { template },
    gives: template,
  }),
  row('PUT /template/', c => c.templates.edit('h1', { desc: 'd' }), {
    sent: { hash_id: 'h1', desc: 'd' },
    answer: { template },
    gives: template,
  }),
  row('DELETE /template/', c => c.templates.remove(3), { sent: { template_id: 3 } }),
  list('GET /workergroups/', c => c.workergroups.list(), 'results', { id: 1 }),
  row('POST /workergroups/', c => c.workergroups.create({ min_load: 1 }), {
    sent: { min_load: 1 },
    answer: {},
  }),
  row('GET /tfa/status/', c => c.twoFactor.status(), {
    answer: { tfa_enabled: true, methods: [method], backup_codes_remaining: 3, new_method_authorized: false },
    gives: expect.objectContaining({ methods: [method] }),
  }),
  row('POST /tfa/', c => c.twoFactor.login({ tfa_method: 'totp', code: '123456' }), {
    sent: { tfa_method: 'totp', code: '123456' },
    answer: { ...user, session_key: 's' },
  }),
  row('DELETE /tfa/', c => c.twoFactor.removeMethod({ backup_code: 'AAAA-BBBB-CCCC', target_id: 2 }), {
    sent: { backup_code: 'AAAA-BBBB-CCCC', target_id: 2 },
    answer: { msg: 'm' },
  }),
  row('POST /tfa/email/', c => c.twoFactor.sendEmail({}), { sent: {}, answer: { ...done, secret: 's' } }),
  row('POST /tfa/sms/', c => c.twoFactor.sendSms({ tfa_method_id: 2 }), {
    sent: { tfa_method_id: 2 },
    answer: { secret: 's' },
  }),
  row('POST /tfa/sms/resend/', c => c.twoFactor.resendSms({}), { sent: {}, answer: { secret: 's' } }),
  row('POST /tfa/totp-setup/', c => c.twoFactor.setUpTotp(), {
    answer: { secret: 'B', provisioning_uri: 'otpauth://x' },
  }),
  row('POST /tfa/authorize-new-method/', c => c.twoFactor.authorizeNewMethod({ tfa_method: 'email' }), {
    sent: { tfa_method: 'email' },
    answer: { ...done, secret: 's' },
  }),
  row(
    'PUT /tfa/authorize-new-method/',
    c => c.twoFactor.confirmAuthorization({ code: '123456', secret: 's' }),
    { sent: { code: '123456', secret: 's' }, answer: done },
  ),
  row(
    'POST /tfa/confirm-new/',
    c => c.twoFactor.confirmMethod({ tfa_method: 'totp', code: '123456', secret: 's' }),
    { sent: { tfa_method: 'totp', code: '123456', secret: 's' }, answer: { ...done, backup_codes: ['a'] } },
  ),
  row('PUT /tfa/update/', c => c.twoFactor.updateMethod({ tfa_method_id: 2, is_primary: true }), {
    sent: { tfa_method_id: 2, is_primary: true },
    answer: { ...done, method },
  }),
  row('PUT /tfa/regen-backup-codes/', c => c.twoFactor.regenerateBackupCodes({ code: '123456' }), {
    sent: { code: '123456' },
    answer: { backup_codes: ['a'] },
  }),
]
