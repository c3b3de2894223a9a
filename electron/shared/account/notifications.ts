import * as v from 'valibot'
import { given, name } from '../fields.ts'

/** Whether a channel carries an event; null or absent leaves it to the service. */
const channel = v.optional(v.nullable(v.boolean()))

/** By audience and event, as section 2.8 has it: `client` > `low_credit` > channels. */
export const NotificationPreferences = v.record(
  v.string(),
  v.record(v.string(), v.object({ email: channel, webhooks: channel })),
)
export type NotificationPreferences = v.InferOutput<typeof NotificationPreferences>

/** The event types in the interface (section 6); a service may have more. */
export const knownEvents = ['client:low_credit', 'client:outbid', 'host:machine_offline'] as const

export const WebhookFields = v.object({
  /** A webhook without a name is shown by its address. */
  name: v.exactOptional(name),
  url: v.pipe(
    given('the address to call', 2048),
    v.url('enter a whole address, such as https://example.com/hook'),
    v.regex(/^https:/i, 'the address begins with https://'),
  ),
  events: v.array(
    v.pipe(
      v.string(),
      v.trim(),
      v.regex(/^[a-z_]+:[a-z0-9_]+$/i, 'an event is written like client:low_credit'),
      v.maxLength(128),
    ),
  ),
})
export type WebhookFields = v.InferOutput<typeof WebhookFields>

/** Section 2.7. Times in epoch seconds. */
export interface WebhookView extends WebhookFields {
  id: number
  createdAt?: number
  updatedAt?: number
}

/** A new webhook, and the secret that signs its deliveries, where the service does so: sent only once. */
export interface NewWebhook {
  webhook: WebhookView
  secret?: string
}
