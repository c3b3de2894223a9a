import * as v from 'valibot'
import {
  type NewWebhook,
  NotificationPreferences,
  WebhookFields,
  type WebhookView,
} from '#contract/account/notifications.ts'
import { account, command, ServiceId } from '../command.ts'

/** The service's own notifications (sections 2.7, 2.8 and 6). */
export const notificationCommands = {
  /** Throws `not_supported` where they can only be written. */
  readPreferences: command({ account }).answers<NotificationPreferences>(),
  /** Changes those that are given; replaces them all where they can only be written. */
  changePreferences: command({
    account,
    preferences: NotificationPreferences,
  }).answers<NotificationPreferences>(),
  listWebhooks: command({ account }).answers<readonly WebhookView[]>(),
  /** Only this answer has the secret. */
  createWebhook: command({ account, fields: WebhookFields }).answers<NewWebhook>(),
  /** Likewise; it signs later deliveries. Throws `not_supported` where there is none. */
  rotateWebhookSecret: command({ account, id: ServiceId }).answers<NewWebhook>(),
  /** Makes the service call the address once. Throws `not_supported` where it cannot. */
  testWebhook: command({ account, id: ServiceId }).answers<void>(),
  /** `enabled`: the notification preferences that the service switched on with it. */
  updateWebhook: command({ account, id: ServiceId, changes: v.partial(WebhookFields) }).answers<{
    webhook: WebhookView
    enabled: readonly string[]
  }>(),
  deleteWebhook: command({ account, id: ServiceId }).answers<void>(),
}
