import type { Static } from 'typebox'
import * as Type from 'typebox'
import { listAnswer, plainAnswer, recordShape, removed, wordsOrConfirmation } from './http/answer.ts'
import { type CallOptions, operation, type Send } from './http/operation.ts'

/** Section 2.5, as listed; `key` may be masked. */
const keyShape = recordShape(
  { id: Type.Integer() },
  {
    user_id: Type.Number(),
    name: Type.String(),
    key: Type.String(),
    rights: Type.String(),
    team_id: Type.Number(),
    team_name: Type.String(),
    permissions: Type.Record(Type.String(), Type.Unknown()),
  },
)
export type ApiKey = NonNullable<typeof keyShape.record>

const newKeyShape = Type.Object({
  id: Type.Integer(),
  /** The secret, which no other answer has. */
  key: Type.String(),
  /** False when permissions are disabled. */
  permissions: Type.Optional(
    Type.Union([Type.Literal(false), Type.Null(), Type.Record(Type.String(), Type.Unknown())]),
  ),
})
export type CreatedApiKey = Static<typeof newKeyShape>

/** Section 5.3: categories such as `instance_read`, each with constraints; `{}` is none. */
export interface KeyPermissions {
  api: Record<string, Record<string, unknown>>
}

/** The body of a key's creation. Without permissions: full access, or refused with `missing_permissions`. */
export interface ApiKeyBody {
  name: string
  permissions?: KeyPermissions
  key_params?: Record<string, unknown>
}

const create = operation('POST', '/api/v0/auth/apikeys/', 'never', plainAnswer(newKeyShape))

const list = operation('GET', '/api/v0/auth/apikeys/', 'read', listAnswer('apikeys', keyShape), {
  size: 'list',
})

const remove = operation('DELETE', '/api/v0/auth/apikeys/{id}/', 'harmless', wordsOrConfirmation, {
  extra: 'item',
})

/** The account's API keys (section 4.1). Every method throws ServiceError. */
export function apiKeys(send: Send) {
  return {
    /** Makes a key; only this answer has its secret. `invalid_permissions`, `missing_permissions`; 2 a second. */
    create: (request: ApiKeyBody, options?: CallOptions) => send(create, { body: request }, options),
    /** All keys. 1 a second. */
    list: async (options?: CallOptions) => (await send(list, {}, options)).apikeys,
    /** Revokes a key (known from deployments; `not_supported` elsewhere). */
    remove: async (id: number, options?: CallOptions) => {
      await removed(send(remove, { ids: { id } }, options))
    },
  }
}
