import type { NewWebhook, WebhookFields, WebhookView } from '../../../contract/account/notifications.ts'
import type { SignedWebhook, Webhook, WebhookRequest } from '../../../service/webhooks.ts'

export function webhookView(webhook: Webhook): WebhookView {
  return {
    id: webhook.id,
    name: webhook.name || undefined,
    url: webhook.webhook_url,
    events: webhook.event_types,
    createdAt: webhook.created_at,
    updatedAt: webhook.updated_at,
  }
}

export function newWebhook({ webhook, secret }: SignedWebhook): NewWebhook {
  return { webhook: webhookView(webhook), secret }
}

/** The given fields under the service's names. */
export function webhookRequest(fields: Partial<WebhookFields>): Partial<WebhookRequest> {
  return { name: fields.name, webhook_url: fields.url, event_types: fields.events }
}
