import type { NewWebhook, WebhookFields, WebhookView } from '#contract/account/notifications.ts'
import type { notificationCommands as declared } from '#contract/commands/account/notifications.ts'
import { BerthError } from '#contract/problem.ts'
import type { HandlersOf } from '#core/app/page/dispatcher.ts'
import { needingPermission } from '#core/app/permission.ts'
import type { User } from '#service/account.ts'
import { type PreferencesAnswer, withChanges } from '#service/preferences.ts'
import { ServiceError } from '#service/service-error.ts'
import type { SignedWebhook, Webhook, WebhookRequest } from '#service/webhooks.ts'
import type { Parts } from '../parts.ts'

type NotificationCommands = HandlersOf<typeof declared>

export function notificationHandlers({ accounts, activity, store }: Parts): NotificationCommands {
  const note = (account: string, text: string) => activity.add({ account, kind: 'user', text })

  /** The service needs the user's own id in the path. */
  function userOf(account: string): User['id'] {
    const user = store.get().accounts[account]?.userId
    if (user === undefined)
      throw new BerthError({
        code: 'user_unknown',
        message: 'The user’s id is not known: this key may not read the account.',
        advice: 'Use a key with the permission user_read.',
      })
    return user
  }

  return {
    async readPreferences({ account }) {
      const { id, client } = accounts.session(account)
      const reading = client.account.notificationPreferences(userOf(id))
      return (await needingPermission('user_read', reading)).known
    },
    async changePreferences({ account, preferences }) {
      const { id, client } = accounts.session(account)
      const user = userOf(id)
      const before = await needingPermission(
        'user_read',
        client.account.notificationPreferences(user).catch(noneIfUntold),
      )
      const inForce = await needingPermission(
        'user_write',
        client.account.replaceNotificationPreferences(user, withChanges(before, preferences)),
      )
      note(id, 'Changed the notification preferences')
      return inForce.known
    },
    async listWebhooks({ account }) {
      return (await needingPermission('user_read', accounts.session(account).client.webhooks.list())).map(
        webhookView,
      )
    },
    async createWebhook({ account, fields: { name, url, events } }) {
      const { id, client } = accounts.session(account)
      const made = await needingPermission(
        'user_write',
        client.webhooks.create({
          ...(name === undefined ? {} : { name }),
          webhook_url: url,
          event_types: events,
        }),
      )
      note(id, `Made the webhook “${name ?? new URL(url).host}” #${made.webhook.id}`)
      return newWebhook(made)
    },
    async rotateWebhookSecret({ account, id: webhook }) {
      const { id, client } = accounts.session(account)
      const rotated = await needingPermission('user_write', client.webhooks.rotateSecret(webhook))
      note(id, `Gave webhook #${webhook} another secret`)
      return newWebhook(rotated)
    },
    async testWebhook({ account, id: webhook }) {
      const { id, client } = accounts.session(account)
      await needingPermission('user_write', client.webhooks.test(webhook))
      note(id, `Tested webhook #${webhook}`)
    },
    async updateWebhook({ account, id: webhook, changes }) {
      const { id, client } = accounts.session(account)
      const after = await needingPermission(
        'user_write',
        client.webhooks.update(webhook, webhookRequest(changes)),
      )
      note(id, `Changed webhook #${webhook}`)
      return { webhook: webhookView(after.webhook), enabled: after.enabled }
    },
    async deleteWebhook({ account, id: webhook }) {
      const { id, client } = accounts.session(account)
      await needingPermission('user_write', client.webhooks.remove(webhook))
      note(id, `Deleted webhook #${webhook}`)
    },
  }
}

/** Where the service does not tell its preferences, what is written is all there is. */
function noneIfUntold(error: unknown): PreferencesAnswer {
  if (error instanceof ServiceError && error.code === 'not_supported') return { known: {}, whole: {} }
  throw error
}

function webhookView(webhook: Webhook): WebhookView {
  return {
    id: webhook.id,
    name: webhook.name || undefined,
    url: webhook.webhook_url,
    events: webhook.event_types,
    createdAt: webhook.created_at,
    updatedAt: webhook.updated_at,
  }
}

function newWebhook({ webhook, secret }: SignedWebhook): NewWebhook {
  return { webhook: webhookView(webhook), secret }
}

/** The given fields under the service's names. */
function webhookRequest(fields: Partial<WebhookFields>): Partial<WebhookRequest> {
  return { name: fields.name, webhook_url: fields.url, event_types: fields.events }
}
