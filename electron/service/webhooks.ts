import * as Type from 'typebox'
import { looseList, recordShape, wrappedAnswer } from './http/answer.ts'
import { type LooseConfirmation, looseConfirmation, removed } from './http/confirmation.ts'
import type { CallOptions, Operation, Send } from './http/operation.ts'

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

const list: Operation<WebhookRecord[]> = {
  method: 'GET',
  path: '/api/v0/webhooks/',
  repeat: 'read',
  answer: looseList(['webhooks', 'results'], webhookShape),
  size: 'list',
  extra: 'collection',
}

const create: Operation<{ webhook: WebhookRecord }> = {
  method: 'POST',
  path: '/api/v0/webhooks/',
  repeat: 'never',
  answer: wrappedAnswer('webhook', webhookShape),
  extra: 'collection',
}

const update: Operation<{ webhook: WebhookRecord; enabled_notification_preferences?: unknown }> = {
  method: 'PUT',
  path: '/api/v0/webhooks/{id}/',
  repeat: 'harmless',
  answer: wrappedAnswer('webhook', webhookShape),
}

const remove: Operation<LooseConfirmation> = {
  method: 'DELETE',
  path: '/api/v0/webhooks/{id}/',
  repeat: 'harmless',
  answer: looseConfirmation,
  extra: 'item',
}

const rotateSecret: Operation<{ webhook: WebhookRecord }> = {
  ...create,
  path: '/api/v0/webhooks/{id}/rotate-secret/',
  extra: 'item',
}

const test: Operation<LooseConfirmation> = {
  method: 'POST',
  path: '/api/v0/webhooks/{id}/test/',
  repeat: 'never',
  answer: looseConfirmation,
  extra: 'item',
}

/** A changed webhook, and the notification preferences that the service switched on with it. */
export interface WebhookUpdate {
  webhook: Webhook
  enabled: readonly string[]
}

/** Notification webhooks (section 4.1). Every method throws ServiceError. */
export interface Webhooks {
  /** All webhooks (known from deployments; `not_supported` elsewhere). */
  list(options?: CallOptions): Promise<Webhook[]>
  /** Makes one (known from deployments; `not_supported` elsewhere). */
  create(request: WebhookRequest, options?: CallOptions): Promise<SignedWebhook>
  /** Changes the given fields. */
  update(id: number, changes: Partial<WebhookRequest>, options?: CallOptions): Promise<WebhookUpdate>
  /** Removes it (known from deployments; `not_supported` elsewhere). */
  remove(id: number, options?: CallOptions): Promise<void>
  /** Replaces the secret for its deliveries (known from deployments; `not_supported` elsewhere). */
  rotateSecret(id: number, options?: CallOptions): Promise<SignedWebhook>
  /** Calls its address once (known from deployments; `not_supported` elsewhere). */
  test(id: number, options?: CallOptions): Promise<void>
}

export function webhooks(send: Send): Webhooks {
  return {
    list: async options => (await send(list, {}, options)).map(record => parted(record).webhook),
    create: async (request, options) => parted((await send(create, { body: request }, options)).webhook),
    update: async (id, changes, options) => {
      const answer = await send(update, { ids: { id }, body: changes }, options)
      return {
        webhook: parted(answer.webhook).webhook,
        enabled: texts(answer.enabled_notification_preferences),
      }
    },
    remove: async (id, options) => {
      await removed(send(remove, { ids: { id } }, options))
    },
    rotateSecret: async (id, options) => parted((await send(rotateSecret, { ids: { id } }, options)).webhook),
    test: async (id, options) => {
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
