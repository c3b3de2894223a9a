import * as Type from 'typebox'
import { looseList, plainAnswer, recordShape } from './http/answer.ts'
import { type Confirmation, confirmation } from './http/confirmation.ts'
import type { CallOptions, Operation, Send } from './http/operation.ts'

/** A copy between two instances, or an instance and the local machine, which has no id. */
export interface CopyBody {
  /** Instance ids, as text. */
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

const connectionShape = recordShape(
  { id: Type.Union([Type.Integer(), Type.String()]) },
  { name: Type.String(), /** `s3`, `drive`, `b2`, `dropbox` or `hf`. */ cloud_type: Type.String() },
)
/** A cloud storage of the user's, whose credentials the service has; made in its web console. */
export type CloudConnection = NonNullable<typeof connectionShape.record>

const connections: Operation<CloudConnection[]> = {
  method: 'GET',
  path: '/api/v0/users/cloud_integrations/',
  repeat: 'read',
  answer: looseList(['connections'], connectionShape),
  size: 'list',
  extra: 'collection',
}

const copy: Operation<Confirmation> = {
  method: 'PUT',
  path: '/api/v0/commands/copy_direct/',
  repeat: 'never',
  answer: confirmation,
}

const cancelCopy: Operation<Confirmation> = { ...copy, method: 'DELETE', repeat: 'harmless' }

const cloudSync: Operation<CloudSync> = {
  method: 'POST',
  path: '/api/v0/commands/rclone/',
  repeat: 'never',
  answer: cloudSyncAnswer,
}

const cancelSync: Operation<Confirmation> = {
  method: 'DELETE',
  path: '/api/v0/commands/rclone/',
  repeat: 'harmless',
  answer: confirmation,
}

/** Copies and cloud copies (section 4.3). Every method throws ServiceError. */
export interface TransferCalls {
  /**
   * Starts a copy, whose progress is in the instance's status line, about 30 seconds late. The answer has the
   * service's words. `invalid_args`, `no_such_user` (a side was not found); 3.5 a second.
   */
  copy(request: CopyBody, options?: CallOptions): Promise<Confirmation>
  /** Cancels the copy into `destination`, an instance id. `invalid_args`, `no_such_user`; 3.5 a second. */
  cancelCopy(destination: number, options?: CallOptions): Promise<void>
  /** Starts a cloud copy. Its errors may have no code. */
  cloudSync(request: CloudSyncRequest, options?: CallOptions): Promise<CloudSync>
  /** The account's cloud connections (known from deployments; `not_supported` elsewhere). 1 request in 2.9 seconds. */
  connections(options?: CallOptions): Promise<CloudConnection[]>
  /** Cancels the cloud copy of an instance; it can only be started again. `invalid_args`, `no_such_instance`. */
  cancelSync(instance: number, options?: CallOptions): Promise<void>
}

export function transfers(send: Send): TransferCalls {
  return {
    copy: (request, options) => send(copy, { body: { client_id: 'me', ...request } }, options),
    cancelCopy: async (destination, options) => {
      await send(cancelCopy, { body: { client_id: 'me', dst_id: String(destination) } }, options)
    },
    connections: options => send(connections, {}, options),
    cloudSync: (request, options) => send(cloudSync, { body: request }, options),
    cancelSync: async (instance, options) => {
      await send(cancelSync, { body: { client_id: 'me', dst_id: instance } }, options)
    },
  }
}
