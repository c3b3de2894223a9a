import * as Type from 'typebox'
import { looseConfirmation, looseList, recordShape, removed, wrappedAnswer } from './http/answer.ts'
import { type CallOptions, type Operation, operation, type Send } from './http/operation.ts'

/** Section 2.7. Times in epoch seconds. */
const webhookShape = recordShape(
  {
    id: Type.Integer(),
    webhook_url: Type.String(),
    event_types: Type.Array(Type.String()),
  },
  {
    /** Undefined instead of null for a webhook without a name. */
    name: Type.String(),
    user_id: Type.Number(),
    created_at: Type.Number(),
    updated_at: Type.Number(),
    /** Only in answers to a creation or rotation, of deployments that sign deliveries. */
    webhook_secret: Type.String(),
  },
  record => {
    record['event_types'] ??= []
  },
)
type WebhookRecord = NonNullable<typeof webhookShape.record>
export type Webhook = Omit<WebhookRecord, 'webhook_secret'>

/** A webhook with the secret that signs its deliveries, if the service has one; it is sent only once. */
export interface SignedWebhook {
  webhook: Webhook
  secret: string | undefined
}

/** A webhook's editable fields. Event types have the form `<audience>:<name>` (section 6). */
export interface WebhookRequest {
  name?: string
  webhook_url: string
  event_types: readonly string[]
}

const list = operation('GET', '/api/v0/webhooks/', 'read', looseList(['webhooks', 'results'], webhookShape), {
  size: 'list',
  extra: 'collection',
})

const create = operation('POST', '/api/v0/webhooks/', 'never', wrappedAnswer('webhook', webhookShape), {
  extra: 'collection',
})

const update = operation<{ webhook: WebhookRecord; enabled_notification_preferences?: unknown }>(
  'PUT',
  '/api/v0/webhooks/{id}/',
  'harmless',
  wrappedAnswer('webhook', webhookShape),
)

const remove = operation('DELETE', '/api/v0/webhooks/{id}/', 'harmless', looseConfirmation, { extra: 'item' })

const rotateSecret: Operation<{ webhook: WebhookRecord }> = {
  ...create,
  path: '/api/v0/webhooks/{id}/rotate-secret/',
  extra: 'item',
}

const test = operation('POST', '/api/v0/webhooks/{id}/test/', 'never', looseConfirmation, { extra: 'item' })

/** Notification webhooks (section 4.1). Every method throws ServiceError. */
export function webhooks(send: Send) {
  return {
    /** All webhooks (known from deployments; `not_supported` elsewhere). */
    list: async (options?: CallOptions) =>
      (await send(list, {}, options)).map(record => parted(record).webhook),
    /** Makes one (known from deployments; `not_supported` elsewhere). */
    create: async (request: WebhookRequest, options?: CallOptions) =>
      parted((await send(create, { body: request }, options)).webhook),
    /** Changes the given fields. Also gives the notification preferences that the service switched on with it. */
    update: async (id: number, changes: Partial<WebhookRequest>, options?: CallOptions) => {
      const answer = await send(update, { ids: { id }, body: changes }, options)
      return {
        webhook: parted(answer.webhook).webhook,
        enabled: texts(answer.enabled_notification_preferences),
      }
    },
    /** Removes it (known from deployments; `not_supported` elsewhere). */
    remove: async (id: number, options?: CallOptions) => {
      await removed(send(remove, { ids: { id } }, options))
    },
    /** Replaces the secret for its deliveries (known from deployments; `not_supported` elsewhere). */
    rotateSecret: async (id: number, options?: CallOptions) =>
      parted((await send(rotateSecret, { ids: { id } }, options)).webhook),
    /** Calls its address once (known from deployments; `not_supported` elsewhere). */
    test: async (id: number, options?: CallOptions) => {
      await send(test, { ids: { id } }, options)
    },
  }
}

/** Separates the secret, so that it only reaches the caller who requested it. */
function parted({ webhook_secret: secret, ...webhook }: WebhookRecord): SignedWebhook {
  return { webhook, secret }
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(one => typeof one === 'string') : []
}
