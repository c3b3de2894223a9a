import { type Fields, isObject } from '../fields.ts'
import { forbidden } from '../http/access.ts'
import type { ApiRequest, Routes } from '../http/route.ts'
import { type Preferences, readEventType, type Webhook, type WebhookContent } from '../world/notifications.ts'
import type { World } from '../world/world.ts'

const path = '/users/:user/notification-prefs/'

/** Section 4.1: notification preferences and webhooks. All but replacing and changing them is beyond the interface. */
export const notificationRoutes: Routes = {
  [`GET ${path}`]: { permission: 'user_read', answer: read },
  [`PUT ${path}`]: {
    permission: 'user_write',
    answer: request => {
      checkUser(request)
      request.world.preferences.replace(readPreferences(request.body()))
      return read(request)
    },
  },
  'GET /webhooks/': {
    permission: 'user_read',
    answer: ({ world }) => ({
      success: true,
      webhooks: world.webhooks.list().map(webhook => webhookRecord(webhook, world.account.id)),
    }),
  },
  'POST /webhooks/': {
    permission: 'user_write',
    answer: ({ world, body }) => {
      return subscribed(world, world.webhooks.create(readNew(body())))
    },
  },
  'PUT /webhooks/:webhook/': { permission: 'user_write', answer: update },
  'DELETE /webhooks/:webhook/': {
    permission: 'user_write',
    answer: ({ world, id }) => {
      world.webhooks.remove(id('webhook'))
      return { success: true, msg: 'The webhook is gone.' }
    },
  },
}

function read(request: ApiRequest) {
  checkUser(request)
  return { success: true, notification_preferences: request.world.preferences.all() }
}

/** Throws 403 `forbidden` for the preferences of another user. */
function checkUser({ world, id }: ApiRequest): void {
  if (id('user') !== world.account.id) throw forbidden('These preferences belong to someone else.')
}

/** Both channels are required for every event. Throws 400 `invalid_args`. */
function readPreferences(body: Fields): Preferences {
  const preferences: Preferences = {}
  for (const [audience, events] of Object.entries(body.object('notification_preferences'))) {
    if (!isObject(events)) throw body.refuse(`notification_preferences: ${audience} must be an object.`)
    preferences[audience] = Object.fromEntries(
      Object.entries(events).map(([name, channels]) => {
        const type = `${audience}:${name}`
        if (!readEventType(type)) throw body.refuse(`${type} has not the form of an event type.`)
        if (!isObject(channels)) throw body.refuse(`notification_preferences: ${type} must be an object.`)
        const stray = Object.keys(channels).find(channel => channel !== 'email' && channel !== 'webhooks')
        if (stray !== undefined) throw body.refuse(`There is no channel ${stray}.`)
        const fields = body.with(channels)
        return [name, { email: fields.boolean('email'), webhooks: fields.boolean('webhooks') }]
      }),
    )
  }
  return preferences
}

function update({ world, body, id }: ApiRequest) {
  const webhookId = id('webhook')
  return subscribed(world, world.webhooks.update(webhookId, readContentChanges(body())))
}

/** Reads the body of a creation. A webhook without a name is called by its address. Throws 400 `invalid_args`. */
export function readNew(fields: Fields): WebhookContent {
  const webhook_url = readUrl(fields)
  const name = fields.has('name') ? readName(fields) : webhook_url
  return { name, webhook_url, event_types: readEventTypes(fields) }
}

/** Reads the changes, at least one. Throws 400 `invalid_args`. */
export function readContentChanges(fields: Fields): Partial<WebhookContent> {
  const changes: Partial<WebhookContent> = {}
  if (fields.has('name')) changes.name = readName(fields)
  if (fields.has('webhook_url')) changes.webhook_url = readUrl(fields)
  if (fields.has('event_types')) changes.event_types = readEventTypes(fields)
  if (Object.keys(changes).length === 0) throw fields.refuse('name, webhook_url or event_types is needed.')
  return changes
}

/** Subscribing to events turns their webhook preferences on; the answer lists those that were off. */
export function subscribed(
  world: World,
  webhook: Webhook,
  shown = webhookRecord(webhook, world.account.id),
): Record<string, unknown> {
  return {
    success: true,
    webhook: shown,
    enabled_notification_preferences: world.preferences.enableWebhooks(webhook.event_types),
  }
}

export function webhookRecord(webhook: Webhook, userId: number): Record<string, unknown> {
  const { id, name, webhook_url, event_types, created, updated } = webhook
  return {
    id,
    user_id: userId,
    name,
    webhook_url,
    event_types,
    created_at: Math.floor(created / 1000),
    updated_at: Math.floor(updated / 1000),
  }
}

function readName(fields: Fields): string {
  const name = fields.string('name')
  if (name.trim() === '') throw fields.refuse('name must not be empty.')
  return name
}

function readUrl(fields: Fields): string {
  const text = fields.string('webhook_url')
  const url = URL.canParse(text) ? new URL(text) : null
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw fields.refuse('webhook_url must be an http or https address.')
  }
  return text
}

function readEventTypes(fields: Fields): string[] {
  const types = fields.strings('event_types')
  const wrong = types.find(type => !readEventType(type))
  if (wrong !== undefined) throw fields.refuse(`${wrong} has not the form <audience>:<name>.`)
  return [...new Set(types)]
}
