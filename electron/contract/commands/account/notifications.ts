import * as v from 'valibot'
import {
  type NewWebhook,
  NotificationPreferences,
  WebhookFields,
  type WebhookView,
} from '../../account/notifications.ts'
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
  /** The answer has the secret, this once. */
  createWebhook: command({ account, fields: WebhookFields }).answers<NewWebhook>(),
  /** Likewise; what is sent from then on is signed with it. Refused with `not_supported` where there is none. */
  rotateWebhookSecret: command({ account, id: ServiceId }).answers<NewWebhook>(),
  /** Has the service call the address once; refused with `not_supported` where it cannot. */
  testWebhook: command({ account, id: ServiceId }).answers<void>(),
  /** `enabled`: the notification preferences that are on with it. */
  updateWebhook: command({ account, id: ServiceId, changes: v.partial(WebhookFields) }).answers<{
    webhook: WebhookView
    enabled: readonly string[]
  }>(),
  deleteWebhook: command({ account, id: ServiceId }).answers<void>(),
}
