import * as v from 'valibot'
import { name } from '../fields.ts'

const Constraints = v.record(v.string(), v.unknown())

/** A new key. Without `permissions` it may do everything. */
export const ApiKeyRequest = v.object({
  name,
  /** By category, known or not; the value is the category's constraints, `{}` for none. */
  permissions: v.optional(v.record(v.pipe(v.string(), v.nonEmpty(), v.maxLength(64)), Constraints)),
  /** Optional parameters for advanced keys (section 4.1). */
  keyParams: v.optional(Constraints),
})
export type ApiKeyRequest = v.InferOutput<typeof ApiKeyRequest>

/** That a key can't end instances, as a sentence; undefined where it can, or its permissions aren't known. */
export function cantEndWords({ permissions = {} }: Pick<ApiKeyView, 'permissions'>): string | undefined {
  const named = Object.keys(permissions)
  if (named.length === 0 || named.includes('instance_write')) return undefined
  return 'This key can’t stop or destroy instances, so limits can’t act. Create one with instance_write.'
}

/** A key as a listing shows it; the secret is masked. */
export interface ApiKeyView {
  id: number
  name?: string
  /** The last characters, as far as the service shows them. */
  masked?: string
  userId?: number
  rights?: string
  teamId?: number
  teamName?: string
  permissions?: Record<string, unknown>
  /** Whether Berth uses it for this account, as far as is known. */
  inUse?: boolean
}

/** The answer to a key's creation, the only one with its secret. */
export interface NewApiKey {
  id: number
  secret: string
  /** False: permissions are disabled on this account, and the key may do everything. */
  permissions: false | Record<string, unknown>
}
