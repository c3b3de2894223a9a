import * as v from 'valibot'
import { given, name } from '../commands/command.ts'

/** Whether a channel carries an event; null or absent is what the service decides by itself. */
const channel = v.optional(v.nullable(v.boolean()))

/** By audience and event, as section 2.8 has it: `client` > `low_credit` > channels. */
export const NotificationPreferences = v.record(
  v.string(),
  v.record(v.string(), v.object({ email: channel, webhooks: channel })),
)
export type NotificationPreferences = v.InferOutput<typeof NotificationPreferences>

// interface 6: Event types have the form `<audience>:<name>`; three are known
/** The event types that the interface shows (section 6); a service may know more. */
export const knownEvents = ['client:low_credit', 'client:outbid', 'host:machine_offline'] as const

export const WebhookFields = v.object({
  /** One without a name goes by its address. */
  name: v.exactOptional(name),
  url: v.pipe(
    given('the address to call', 2048),
    v.url('give a whole address, such as https://example.com/hook'),
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

/** A new webhook, and the secret that its deliveries are signed with, where the service does so: told this once. */
export interface NewWebhook {
  webhook: WebhookView
  secret?: string
}
