import type { VolumeView } from '#contract/account/hosting.ts'
import type { NewWebhook, WebhookFields, WebhookView } from '#contract/account/notifications.ts'
import type {
  accountCommands,
  moneyCommands,
  notificationCommands,
  volumeCommands,
} from '#contract/commands/account.ts'
import { BerthError, type Problem } from '#contract/problem.ts'
import { micros } from '#contract/spending/money.ts'
import type { User } from '#service/account.ts'
import { type PreferencesAnswer, withChanges } from '#service/preferences.ts'
import { ServiceError } from '#service/service-error.ts'
import type { Volume } from '#service/volumes.ts'
import type { SignedWebhook, Webhook, WebhookRequest } from '#service/webhooks.ts'
import type { HandlersOf } from '../app/dispatcher.ts'
import { needingPermission, problemOf } from '../app/problems.ts'
import { cleanLine } from '../instances/instance-view.ts'
import { daysCsv, instancesCsv, modelsCsv, samplesCsv } from '../money/csv.ts'
import { neededNames } from '../money/money.ts'
import type { Parts } from './parts.ts'

type AccountCommands = HandlersOf<typeof accountCommands>

export function accountHandlers({ accounts }: Parts): AccountCommands {
  return {
    connectAccount: ({ baseUrl, key, name }) => serviceAddressAsTyped(accounts.connect(baseUrl, key, name)),
    replaceKey: ({ account, key }) => serviceAddressAsTyped(accounts.replaceKey(account, key)),
    renameAccount: ({ account, name }) => accounts.rename(account, name),
    removeAccount: ({ account }) => accounts.remove(account),
    showAccount: ({ account }) => accounts.show(account),
    refresh: ({ account }) => accounts.session(account).poll(),
  }
}

/** Replaces the usual words, which send the user to the settings. */
const wrongKey = {
  message: 'The service rejected this API key: it’s wrong, incomplete or revoked.',
  advice: 'Copy the whole key again, or create a new one in the service’s web console.',
}

/** Additions to a problem in forms that take a key: the field at fault, or better words. */
const there: Readonly<Record<string, Partial<Problem>>> = {
  bad_url: { field: 'baseUrl' },
  insecure_url: { field: 'baseUrl' },
  url_has_credentials: { field: 'baseUrl' },
  bad_key: { field: 'key' },
  unauthorized: { ...wrongKey, field: 'key' },
  auth_error: { ...wrongKey, field: 'key' },
}

/** Awaits the use of a typed key; a refusal names the field at fault. */
async function serviceAddressAsTyped<Answer>(connecting: Promise<Answer>): Promise<Answer> {
  try {
    return await connecting
  } catch (error) {
    const problem = problemOf(error)
    const further = there[problem.code]
    throw further ? new BerthError({ ...problem, ...further }) : error
  }
}

type MoneyCommands = HandlersOf<typeof moneyCommands>

export function moneyHandlers({ accounts }: Parts): MoneyCommands {
  return {
    async moneyHistory({ account, from, samples, days: last }) {
      const { days, names, ...rest } = accounts.session(account).automations.money.history(from, samples)
      const shown = days.slice(-last)
      return { ...rest, days: shown, names: neededNames(names, shown) }
    },
    async spendingTable({ account, rows }) {
      const { days, names, samples } = accounts
        .session(account)
        .automations.money.history(0, Number.MAX_SAFE_INTEGER)
      if (rows === 'days') return daysCsv(days)
      if (rows === 'models') return modelsCsv(days)
      return rows === 'instances' ? instancesCsv(days, names) : samplesCsv(samples)
    },
  }
}

export function volumeHandlers({ accounts, activity }: Parts): HandlersOf<typeof volumeCommands> {
  return {
    async listVolumes({ account }) {
      const { client } = accounts.session(account)
      return (await needingPermission('instance_read', client.volumes.list())).map(volumeView)
    },
    async deleteVolume({ account, id: volume }) {
      const { id, client } = accounts.session(account)
      await needingPermission('instance_write', client.volumes.remove(volume))
      activity.add({ account: id, kind: 'user', text: `Deleted volume #${volume}` })
    },
  }
}

function volumeView(volume: Volume): VolumeView {
  const cost = volume.storage_total_cost
  return {
    id: volume.id,
    label: cleanLine(volume.label),
    status: cleanLine(volume.status),
    size: volume.disk_space,
    machineId: volume.machine_id,
    location: cleanLine(volume.geolocation),
    costPerHour: cost === undefined ? undefined : micros(cost),
    instances: (volume.instances ?? []).flatMap(instanceId),
  }
}

function instanceId(mounted: unknown): number[] {
  const id: unknown =
    typeof mounted === 'object' && mounted !== null && 'id' in mounted ? mounted.id : mounted
  return typeof id === 'number' ? [id] : []
}

type NotificationCommands = HandlersOf<typeof notificationCommands>

export function notificationHandlers({ accounts, activity, store }: Parts): NotificationCommands {
  const note = (account: string, text: string) => activity.add({ account, kind: 'user', text })

  /** The service needs the user's own id in the path. */
  function userOf(account: string): User['id'] {
    const user = store.get().accounts[account]?.userId
    if (user === undefined)
      throw new BerthError({
        code: 'user_unknown',
        message: 'The user’s id is unknown, because this key can’t read the account.',
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
      note(id, `Created the webhook “${name ?? new URL(url).host}” #${made.webhook.id}`)
      return newWebhook(made)
    },
    async rotateWebhookSecret({ account, id: webhook }) {
      const { id, client } = accounts.session(account)
      const rotated = await needingPermission('user_write', client.webhooks.rotateSecret(webhook))
      note(id, `Changed the secret of webhook #${webhook}`)
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

/** If the service does not report its preferences, only the written ones are known. */
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
