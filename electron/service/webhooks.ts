import Type from 'typebox'
import { looseList, recordShape, wrapped } from './http/answer.ts'
import { type LooseConfirmation, looseConfirmation } from './http/confirmation.ts'
import type { CallOptions, Operation, Send } from './http/operation.ts'

/** Section 2.7. Times in epoch seconds. */
const webhookShape = recordShape(
  {
    id: Type.Integer(),
    name: Type.String(),
    webhook_url: Type.String(),
    event_types: Type.Array(Type.String()),
  },
  { user_id: Type.Number(), created_at: Type.Number(), updated_at: Type.Number() },
)
export type Webhook = NonNullable<typeof webhookShape.record>

/** What can be set on a webhook. Event types have the form `<audience>:<name>` (section 6). */
export interface WebhookRequest {
  name: string
  webhook_url: string
  event_types: readonly string[]
}

const list: Operation<Webhook[]> = {
  method: 'GET',
  path: '/api/v0/webhooks/',
  repeat: 'read',
  answer: looseList(['webhooks', 'results'], webhookShape),
  size: 'list',
  extra: 'collection',
}

const create: Operation<{ webhook: Webhook }> = {
  method: 'POST',
  path: '/api/v0/webhooks/',
  repeat: 'never',
  answer: wrapped('webhook', webhookShape),
  extra: 'collection',
}

const update: Operation<{ webhook: Webhook; enabled_notification_preferences?: unknown }> = {
  method: 'PUT',
  path: '/api/v0/webhooks/{id}/',
  repeat: 'harmless',
  answer: wrapped('webhook', webhookShape),
}

const remove: Operation<LooseConfirmation> = {
  method: 'DELETE',
  path: '/api/v0/webhooks/{id}/',
  repeat: 'harmless',
  answer: looseConfirmation,
  extra: 'item',
}

/** A changed webhook, and the notification preferences that are on with it. */
export interface WebhookUpdate {
  webhook: Webhook
  enabled: readonly string[]
}

/** Notification webhooks (section 4.1). Every method throws ServiceError. */
export interface Webhooks {
  /** All webhooks (known from deployments; `not_supported` elsewhere). */
  list(options?: CallOptions): Promise<Webhook[]>
  /** Makes one (known from deployments; `not_supported` elsewhere). */
  create(request: WebhookRequest, options?: CallOptions): Promise<Webhook>
  /** Changes the given fields. */
  update(id: number, changes: Partial<WebhookRequest>, options?: CallOptions): Promise<WebhookUpdate>
  /** Removes it (known from deployments; `not_supported` elsewhere). */
  remove(id: number, options?: CallOptions): Promise<void>
}

export function webhooks(send: Send): Webhooks {
  return {
    list: options => send(list, {}, options),
    create: async (request, options) => (await send(create, { body: request }, options)).webhook,
    update: async (id, changes, options) => {
      const answer = await send(update, { ids: { id }, body: changes }, options)
      return { webhook: answer.webhook, enabled: texts(answer.enabled_notification_preferences) }
    },
    remove: async (id, options) => {
      await send(remove, { ids: { id } }, options)
    },
  }
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter(one => typeof one === 'string') : []
}
