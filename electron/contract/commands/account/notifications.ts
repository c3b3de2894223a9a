import * as v from 'valibot'
import { NotificationPreferences, WebhookFields, type WebhookView } from '../../account/notifications.ts'
import { account, command, ServiceId } from '../command.ts'

/** What the service itself tells the user of (sections 2.7, 2.8 and 6). */
export const notificationCommands = {
  /** Refused with `not_supported` where they can only be written. */
  readPreferences: command({ account }).answers<NotificationPreferences>(),
  /** Replaces them all. */
  replacePreferences: command({
    account,
    preferences: NotificationPreferences,
  }).answers<NotificationPreferences>(),
  listWebhooks: command({ account }).answers<readonly WebhookView[]>(),
  createWebhook: command({ account, fields: WebhookFields }).answers<WebhookView>(),
  /** `enabled`: the notification preferences that are on with it. */
  updateWebhook: command({ account, id: ServiceId, changes: v.partial(WebhookFields) }).answers<{
    webhook: WebhookView
    enabled: readonly string[]
  }>(),
  deleteWebhook: command({ account, id: ServiceId }).answers<void>(),
}
