import { refusal } from '#simulator/errors.ts'
import { isObject } from '#simulator/fields.ts'
import type { ApiRequest, Layer } from '#simulator/http/route.ts'
import { epochSeconds } from '#simulator/world/clock.ts'
import { dollars } from '#simulator/world/money.ts'

/** What the service has noted of the account: calls, addresses, old-style invoices, scheduled jobs, endpoints. */
export const recordRoutes: Layer = {
  'GET /audit_logs/': { permission: 'user_read', answer: auditLog },
  'GET /instance_backups/': { permission: 'instance_read', answer: backups },
  'GET /users/me/ipaddrs/': { permission: 'user_read', answer: addresses },
  'GET /users/me/invoices/': { permission: 'billing_read', answer: invoices },
  'GET /subaccounts/': { permission: 'user_read', answer: () => ({ users: [] }) },
  'GET /endptjobs/': { permission: 'misc', answer: endpoints },
  'GET /commands/schedule_job/': {
    permission: 'instance_read',
    answer: ({ world }) => world.scheduledJobs.list().map(job => ({ ...job, min_of_the_hour: 0 })),
  },
  'POST /commands/schedule_job/': { permission: 'instance_write', answer: schedule },
  'DELETE /commands/schedule_job/:job/': {
    permission: 'instance_write',
    answer: ({ world, id }) => {
      world.scheduledJobs.remove(id('job'))
      return { success: true, msg: `Scheduled job ${id('job')} deleted successfully` }
    },
  },
}

/** A bare array, the newest first. */
function auditLog({ world }: ApiRequest) {
  return world.account.audit.toReversed().map(({ created_at, ...entry }) => ({
    ...entry,
    ip_address: '127.0.0.1',
    created_at: new Date(created_at * 1000).toISOString(),
    args: '{}',
  }))
}

/** One of each instance whose host is gone, from the moment on at which it went. */
function backups({ world, query }: ApiRequest) {
  const wanted = query.get('contract_id')
  const lost = world.instances.list().filter(({ status }) => status === 'offline')
  const shown = lost.filter(({ id }) => wanted === null || String(id) === wanted)
  return {
    success: true,
    backups: shown.map(({ id, since }) => ({
      contract_id: id,
      type: 'instance',
      status: 'success',
      created_at: epochSeconds(since),
      info: '',
    })),
  }
}

function addresses({ world }: ApiRequest) {
  const firstSeen = new Date(world.account.created).toISOString()
  const results = [{ ip: '127.0.0.1', first_seen: firstSeen, first_location: 'Loopback' }]
  return { success: true, results: results.map((row, index) => ({ id: index + 1, ...row })) }
}

/** Charges and payments of a range, with its ends in epoch seconds. */
function invoices({ world, query }: ApiRequest) {
  const from = Number(query.get('sdate') ?? 0)
  const to = Number(query.get('edate') ?? epochSeconds(world.clock.now()))
  const within = (at: number) => at >= from && at <= to
  const charges = world.ledger.charges(world.clock.now()).filter(charge => within(charge.to))
  const payments = world.account.payments.filter(({ at }) => within(at))
  const total = charges.reduce((sum, { micro_dollars }) => sum + dollars(micro_dollars), 0)
  const rows = charges.map(charge => ({
    type: 'charge',
    description: `Instance ${charge.instance_id} ${charge.kind}`,
    quantity: ((charge.to - charge.from) / 3600).toFixed(3),
    rate: dollars(charge.micro_dollars_per_hour).toFixed(4),
    amount: dollars(charge.micro_dollars).toFixed(3),
    timestamp: charge.to,
  }))
  const paid = payments.map(({ at, amount }) => ({
    type: 'payment',
    description: 'Manual Billing from a card ...4242',
    quantity: '1',
    rate: null,
    amount: amount.toFixed(2),
    timestamp: at,
  }))
  return {
    invoices: [...(query.get('inc_charges') === 'false' ? [] : rows), ...paid],
    username: world.account.username,
    email: world.account.state.email,
    current: { charges: total, service_fee: 0, total, credit: world.account.credit() },
  }
}

/** Throws 400 where there are none. */
function endpoints({ world }: ApiRequest) {
  const all = [...world.workergroups.endpoints()]
  if (all.length === 0) {
    throw refusal(400, 'invalid_args', `No endpoints for user ${world.account.id} found.`)
  }
  const results = all.map(([name, id]) => ({
    id,
    endpoint_name: name,
    endpoint_state: 'active',
    user_id: world.account.id,
    min_load: 0,
    min_cold_load: 0,
    target_util: 0.9,
    cold_mult: 2.5,
    cold_workers: 0,
    max_workers: 20,
    created_at: epochSeconds(world.account.created),
  }))
  return { success: true, results }
}

function schedule({ world, body }: ApiRequest) {
  const fields = body()
  const content = {
    instance_id: fields.integer('instance_id'),
    api_endpoint: fields.string('api_endpoint'),
    request_method: fields.string('request_method'),
    request_body: isObject(fields.values['request_body']) ? fields.values['request_body'] : {},
    start_time: fields.number('start_time'),
    end_time: fields.number('end_time'),
    frequency: fields.string('frequency'),
    day_of_the_week: fields.optionalInteger('day_of_the_week') ?? null,
    hour_of_the_day: fields.optionalInteger('hour_of_the_day') ?? null,
  }
  if (!['HOURLY', 'DAILY', 'WEEKLY'].includes(content.frequency)) throw fields.refuse('frequency is unknown.')
  const { id } = world.scheduledJobs.create(content)
  const msg = `Successfully inserted new scheduled job with ID ${id}`
  return { success: true, scheduled_job_id: id, msg: `${msg} for instance_id ${content.instance_id}` }
}
