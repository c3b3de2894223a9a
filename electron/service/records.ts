import * as Type from 'typebox'
import { looseConfirmation, looseList, Moment, recordShape } from './http/answer.ts'
import { type CallOptions, operation, type Send } from './http/operation.ts'

const jobShape = recordShape(
  { id: Type.Integer() },
  {
    instance_id: Type.Integer(),
    /** `/api/v0/instances/bid_price/123/` */
    api_endpoint: Type.String(),
    request_method: Type.String(),
    /** `HOURLY`, `DAILY` or `WEEKLY`. */
    frequency: Type.String(),
    /** 0 is Sunday; hours in UTC. */
    day_of_the_week: Type.Number(),
    hour_of_the_day: Type.Number(),
  },
)
/** A call that the service makes for the account again and again. */
export type ScheduledJob = NonNullable<typeof jobShape.record>

const callShape = recordShape(
  { api_route: Type.String() },
  {
    created_at: Type.String(),
    api_key_id: Type.Number(),
    ip_address: Type.String(),
  },
)
/** A call that the service has noted. Its arguments are read no further. */
export type NotedCall = NonNullable<typeof callShape.record>

const backupShape = recordShape(
  /** The instance or volume that it is of. */
  { contract_id: Type.Integer() },
  {
    created_at: Moment,
    /** `instance`, `volume`; absent for one that is long gone. */
    type: Type.String(),
    /** `pending`, `success` or `error`. */
    status: Type.String(),
    info: Type.String(),
  },
)
/** What the service has kept of an instance or a volume whose machine goes away. */
export type Backup = NonNullable<typeof backupShape.record>

const listBackups = operation(
  'GET',
  '/api/v0/instance_backups/',
  'read',
  looseList(['backups', 'results'], backupShape),
  { size: 'list', extra: 'collection' },
)

const listJobs = operation(
  'GET',
  '/api/v0/commands/schedule_job/',
  'read',
  looseList(['scheduled_jobs', 'results'], jobShape),
  { size: 'list', extra: 'collection' },
)

const removeJob = operation('DELETE', '/api/v0/commands/schedule_job/{id}/', 'harmless', looseConfirmation, {
  extra: 'item',
})

const auditLog = operation(
  'GET',
  '/api/v0/audit_logs/',
  'read',
  looseList(['audit_logs', 'results'], callShape),
  {
    size: 'list',
    extra: 'collection',
  },
)

/** What the service does for the account by itself, and has noted of it (known from deployments). Throws ServiceError. */
export function records(send: Send) {
  return {
    scheduledJobs: (options?: CallOptions) => send(listJobs, {}, options),
    removeScheduledJob: async (id: number, options?: CallOptions) => {
      await send(removeJob, { ids: { id } }, options)
    },
    /** The newest first; they outlive what they are of, and are read by a copy from `vast.CONTRACT_ID`. */
    backups: (options?: CallOptions) => send(listBackups, {}, options),
    /** The newest first. */
    auditLog: (options?: CallOptions) => send(auditLog, {}, options),
  }
}
