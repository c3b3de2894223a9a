import * as Type from 'typebox'
import { type Fields, looseConfirmation, looseList, recordShape, singleAnswer } from './http/answer.ts'
import { type CallOptions, operation, type Send } from './http/operation.ts'
import { preferencesAnswer } from './preferences.ts'
import { ServiceError } from './service-error.ts'

/**
 * The user in the answers of GET `/users/current/` and a verified login (section 4.1). Deployments may leave out all
 * fields but the id, or send null.
 */
export const userFields = {
  email: Type.String(),
  /**
   * Dollars. The `balance` of some deployments does not stand in for it: it is often 0 while the credit holds the money,
   * and a limit would take it for used up.
   */
  credit: Type.Number(),
  /** `enabled`, `disabled` or `legacy` (section 3.2). */
  tfa_status: Type.String(),
  /** Public key text. */
  ssh_key: Type.String(),
}
const userShape = recordShape({ id: Type.Integer() }, userFields)
export type User = NonNullable<typeof userShape.record>

const currentUser = operation('GET', '/api/v0/users/current/', 'read', singleAnswer(userShape))

const replacePreferences = operation(
  'PUT',
  '/api/v0/users/{user_id}/notification-prefs/',
  'harmless',
  preferencesAnswer,
)

const readPreferences = operation(
  'GET',
  '/api/v0/users/{user_id}/notification-prefs/',
  'read',
  preferencesAnswer,
  { extra: 'collection' },
)

const sshKeyShape = recordShape(
  /** Public key text. */
  { ssh_key: Type.String() },
  {
    id: Type.Number(),
    name: Type.String(),
    created_at: Type.Union([Type.Number(), Type.String()]),
  },
  record => {
    // Deployments use different names.
    record['ssh_key'] ??= record['public_key'] ?? record['key']
  },
)

const listSshKeys = operation(
  'GET',
  '/api/v0/ssh/',
  'read',
  looseList(['ssh_keys', 'keys', 'results'], sshKeyShape),
  { size: 'list', extra: 'collection' },
)

const addSshKey = operation('POST', '/api/v0/ssh/', 'never', looseConfirmation, { extra: 'collection' })

const removeSshKey = operation('DELETE', '/api/v0/ssh/{id}/', 'harmless', looseConfirmation, {
  extra: 'item',
})

/** The account (section 4.1, without API keys and webhooks). Every method throws ServiceError. */
export function accountOperations(send: Send) {
  return {
    /** The key's user, with the credit in dollars. */
    currentUser: (options?: CallOptions) => send(currentUser, {}, options),
    /** Which events reach the user by which channels (known from deployments; `not_supported` elsewhere). */
    notificationPreferences: (user: number, options?: CallOptions) =>
      send(readPreferences, { ids: { user_id: user } }, options),
    /** Replaces all preferences, so pass the changed whole. Gives the new ones. */
    replaceNotificationPreferences: (user: number, whole: Fields, options?: CallOptions) => {
      const input = { ids: { user_id: user }, body: { notification_preferences: whole } }
      return send(replacePreferences, input, options)
    },
    /** The account's SSH keys (known from deployments; `not_supported` for a 405). */
    listSshKeys: (options?: CallOptions) =>
      send(listSshKeys, {}, options).catch((error: unknown) => {
        // Deployments answer 404 for an empty list.
        if (error instanceof ServiceError && error.status === 404 && !error.keyRefused) return []
        throw error
      }),
    /** Adds a public key, one line of OpenSSH's format, to the account (known from deployments). */
    addSshKey: async (publicKey: string, options?: CallOptions) => {
      await send(addSshKey, { body: { ssh_key: publicKey } }, options)
    },
    /** Takes one from the account, not from its instances (known from deployments). */
    removeSshKey: async (id: number, options?: CallOptions) => {
      await send(removeSshKey, { ids: { id } }, options)
    },
  }
}
