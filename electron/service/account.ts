import Type, { type Static } from 'typebox'
import { looseList, plain, recordShape, single } from './http/answer.ts'
import { type LooseConfirmation, looseConfirmation } from './http/confirmation.ts'
import type { CallOptions, Operation, Send } from './http/operation.ts'

/**
 * The user, as GET `/users/current/` and a verified login give it (section 4.1). Deployments leave out all but the id,
 * or send null.
 */
export const userFields = {
  email: Type.String(),
  /** Dollars. */
  credit: Type.Number(),
  /** `enabled`, `disabled` or `legacy` (section 3.2). */
  tfa_status: Type.String(),
  /** Public key text. */
  ssh_key: Type.String(),
}
const userShape = recordShape({ id: Type.Integer() }, userFields)
export type User = NonNullable<typeof userShape.record>

const currentUser: Operation<User> = {
  method: 'GET',
  path: '/api/v0/users/current/',
  repeat: 'read',
  answer: single(userShape),
}

/** Which channels carry one event. */
const channels = Type.Object({ email: Type.Boolean(), webhooks: Type.Boolean() })

/** Section 2.8, for every audience and event that the service names: `client` > `low_credit` > channels. */
const preferences = Type.Record(Type.String(), Type.Record(Type.String(), channels))
export type NotificationPreferences = Static<typeof preferences>

const preferencesAnswer = plain(Type.Object({ notification_preferences: preferences }))

const replacePreferences: Operation<{ notification_preferences: NotificationPreferences }> = {
  method: 'PUT',
  path: '/api/v0/users/{user_id}/notification-prefs/',
  repeat: 'harmless',
  answer: preferencesAnswer,
}

const readPreferences: Operation<{ notification_preferences: NotificationPreferences }> = {
  ...replacePreferences,
  method: 'GET',
  repeat: 'read',
  extra: 'collection',
}

const sshKeyShape = recordShape(
  {},
  {
    id: Type.Number(),
    /** Public key text; deployments differ in the name. */
    ssh_key: Type.String(),
    public_key: Type.String(),
    key: Type.String(),
    name: Type.String(),
    created_at: Type.Union([Type.Number(), Type.String()]),
  },
)
export type AccountSshKey = NonNullable<typeof sshKeyShape.record>

const listSshKeys: Operation<AccountSshKey[]> = {
  method: 'GET',
  path: '/api/v0/ssh/',
  repeat: 'read',
  answer: looseList(['ssh_keys', 'keys', 'results'], sshKeyShape),
  size: 'list',
  extra: 'collection',
}

const addSshKey: Operation<LooseConfirmation> = {
  method: 'POST',
  path: '/api/v0/ssh/',
  repeat: 'never',
  answer: looseConfirmation,
  extra: 'collection',
}

/** The account itself (section 4.1; its API keys and webhooks are groups of their own). Throws ServiceError. */
export interface Account {
  /** Who the key belongs to, and what credit is left in dollars. */
  currentUser(options?: CallOptions): Promise<User>
  /** What the user is told of, and how (known from deployments; `not_supported` elsewhere). */
  notificationPreferences(user: number, options?: CallOptions): Promise<NotificationPreferences>
  /** Replaces them all: give back what was read, changed. Gives what is in force then. */
  replaceNotificationPreferences(
    user: number,
    preferences: NotificationPreferences,
    options?: CallOptions,
  ): Promise<NotificationPreferences>
  /** The account's SSH keys (known from deployments; `not_supported` elsewhere). */
  listSshKeys(options?: CallOptions): Promise<AccountSshKey[]>
  /** Adds a public key, one line of OpenSSH's format, to the account (known from deployments). */
  addSshKey(publicKey: string, options?: CallOptions): Promise<void>
}

export function account(send: Send): Account {
  return {
    currentUser: options => send(currentUser, {}, options),
    notificationPreferences: async (user, options) =>
      (await send(readPreferences, { ids: { user_id: user } }, options)).notification_preferences,
    replaceNotificationPreferences: async (user, wanted, options) => {
      const input = { ids: { user_id: user }, body: { notification_preferences: wanted } }
      return (await send(replacePreferences, input, options)).notification_preferences
    },
    listSshKeys: options => send(listSshKeys, {}, options),
    addSshKey: async (publicKey, options) => {
      await send(addSshKey, { body: { ssh_key: publicKey } }, options)
    },
  }
}
