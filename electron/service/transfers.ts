import * as Type from 'typebox'
import { type Confirmation, confirmation, looseList, plainAnswer, recordShape } from './http/answer.ts'
import { type CallOptions, type Operation, operation, type Send } from './http/operation.ts'

/** A copy between two instances, or an instance and the local machine, which has no id. */
export interface CopyBody {
  /** Instance ids, as text; `vast.` and a contract's id for a backup of the service. */
  src_id?: string
  src_path: string
  dst_id?: string
  dst_path: string
}

/** A cloud copy. `selected` is the id of a cloud connection made in the web console. */
export interface CloudSyncRequest {
  instance_id: string
  src: string
  dst: string
  selected: string
  /** `Instance To Cloud` or `Cloud To Instance`. */
  transfer: string
  flags: readonly string[]
  /** The API key that the instance uses for it. A secret. */
  api_key: string
}

const cloudSyncAnswer = plainAnswer(
  Type.Object({
    success: Type.Boolean(),
    msg: Type.Optional(Type.String()),
    result_url: Type.Optional(Type.String()),
  }),
)
export interface CloudSync extends Confirmation {
  /** A web address with the progress. */
  result_url?: string
}

/** A cloud storage of the user's, whose credentials the service has; made in its web console. */
const connectionShape = recordShape(
  { id: Type.Union([Type.Integer(), Type.String()]) },
  { name: Type.String(), /** `s3`, `drive`, `b2`, `dropbox` or `hf`. */ cloud_type: Type.String() },
)

const connections = operation(
  'GET',
  '/api/v0/users/cloud_integrations/',
  'read',
  looseList(['connections'], connectionShape),
  { size: 'list', extra: 'collection' },
)

const copy = operation('PUT', '/api/v0/commands/copy_direct/', 'never', confirmation)

const cancelCopy: Operation<Confirmation> = { ...copy, method: 'DELETE', repeat: 'harmless' }

const cloudSync = operation('POST', '/api/v0/commands/rclone/', 'never', cloudSyncAnswer)

const cancelSync = operation('DELETE', '/api/v0/commands/rclone/', 'harmless', confirmation)

/** Copies and cloud copies (section 4.3). Every method throws ServiceError. */
export function transfers(send: Send) {
  return {
    /**
     * Starts a copy, whose progress is in the instance's status line, about 30 seconds late. The answer has the
     * service's words. `invalid_args`, `no_such_user` (a side was not found); 3.5 a second.
     */
    copy: (request: CopyBody, options?: CallOptions) =>
      send(copy, { body: { client_id: 'me', ...request } }, options),
    /** Cancels the copy into `destination`, an instance id. `invalid_args`, `no_such_user`; 3.5 a second. */
    cancelCopy: async (destination: number, options?: CallOptions) => {
      await send(cancelCopy, { body: { client_id: 'me', dst_id: String(destination) } }, options)
    },
    /** The account's cloud connections (known from deployments; `not_supported` elsewhere). 1 request in 2.9 seconds. */
    connections: (options?: CallOptions) => send(connections, {}, options),
    /** Starts a cloud copy. Its errors may have no code. */
    cloudSync: (request: CloudSyncRequest, options?: CallOptions) =>
      send(cloudSync, { body: request }, options),
    /** Cancels the cloud copy of an instance; it can only be started again. `invalid_args`, `no_such_instance`. */
    cancelSync: async (instance: number, options?: CallOptions) => {
      await send(cancelSync, { body: { client_id: 'me', dst_id: instance } }, options)
    },
  }
}
