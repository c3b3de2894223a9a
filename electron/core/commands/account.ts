import type {
  accountCommands,
  moneyCommands,
  notificationCommands,
  recordCommands,
  variableCommands,
  volumeCommands,
} from '#contract/commands/account.ts'
import type { User } from '#service/account.ts'
import { type PreferencesAnswer, withChanges } from '#service/preferences.ts'
import type { Backup, NotedCall, ScheduledJob } from '#service/records.ts'
import { ServiceError } from '#service/service-error.ts'
import type { Volume } from '#service/volumes.ts'
import type { SignedWebhook, Webhook, WebhookRequest } from '#service/webhooks.ts'
import { cantEndWords } from '#shared/account/api-key.ts'
import type { VolumeView } from '#shared/account/hosting.ts'
import type { NewWebhook, WebhookFields, WebhookView } from '#shared/account/notifications.ts'
import type { BackupView, NotedCallView, ScheduledJobView } from '#shared/account/records.ts'
import { BerthError, type Problem } from '#shared/problem.ts'
import { micros } from '#shared/spending/money.ts'
import type { HandlersOf } from '../bridge/dispatcher.ts'
import { problemOf } from '../bridge/problems.ts'
import { cleanLine } from '../instances/instance-view.ts'
import { daysCsv, instancesCsv, modelsCsv, samplesCsv } from '../money/csv.ts'
import { neededNames } from '../money/money.ts'
import { keyViews } from './keys.ts'
import { askOf, type Services } from './services.ts'

export function accountHandlers({ accounts }: Services): HandlersOf<typeof accountCommands> {
  return {
    connectAccount: ({ baseUrl, key, name }) => serviceAddressAsTyped(accounts.connect(baseUrl, key, name)),
    async replaceKey({ account, key }) {
      await serviceAddressAsTyped(accounts.replaceKey(account, key))
      const list = accounts.session(account).client.apiKeys.list({ retries: 0 })
      const own = keyViews(await list.catch(() => []), key).find(({ inUse }) => inUse)
      return own && cantEndWords(own)
    },
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

export function moneyHandlers({ accounts }: Services): HandlersOf<typeof moneyCommands> {
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

/** Activity names a variable and never its value. */
export function variableHandlers(parts: Services): HandlersOf<typeof variableCommands> {
  const ask = askOf(parts)
  return {
    listVariables: ({ account }) => ask(account, 'user_read', ({ environment }) => environment.names()),
    addVariable: ({ account, name, value }) =>
      ask(
        account,
        'user_write',
        ({ environment }) => environment.add(name, value),
        `Added the variable ${name}`,
      ),
    changeVariable: ({ account, name, value }) =>
      ask(
        account,
        'user_write',
        ({ environment }) => environment.change(name, value),
        `Changed the variable ${name}`,
      ),
    deleteVariable: ({ account, name }) =>
      ask(
        account,
        'user_write',
        ({ environment }) => environment.remove(name),
        `Deleted the variable ${name}`,
      ),
  }
}

/** The most calls of the audit log that are shown. */
const mostCalls = 50

export function recordHandlers(parts: Services): HandlersOf<typeof recordCommands> {
  const ask = askOf(parts)
  return {
    async listBackups({ account }) {
      return (await ask(account, 'instance_read', ({ records }) => records.backups())).map(backupView)
    },
    async listScheduledJobs({ account }) {
      return (await ask(account, 'instance_read', ({ records }) => records.scheduledJobs())).map(jobView)
    },
    deleteScheduledJob: ({ account, id }) =>
      ask(
        account,
        'instance_write',
        ({ records }) => records.removeScheduledJob(id),
        `Deleted the scheduled job #${id}`,
      ),
    async listNotedCalls({ account }) {
      const calls = await ask(account, 'user_read', ({ records }) => records.auditLog())
      return calls.slice(0, mostCalls).map(callView)
    },
  }
}

function backupView({ contract_id: of, created_at: at, type, status, info }: Backup): BackupView {
  const step = status === 'success' ? 'done' : status === 'error' ? 'failed' : 'pending'
  return { of, isVolume: type?.includes('volume') ?? false, at, step, info: cleanLine(info) }
}

function jobView(job: ScheduledJob): ScheduledJobView {
  const path = job.api_endpoint?.replace(/^\/api\/v\d+/, '')
  return {
    id: job.id,
    instance: job.instance_id,
    call: cleanLine([job.request_method, path].filter(Boolean).join(' ')) ?? '',
    frequency: cleanLine(job.frequency),
    day: job.day_of_the_week,
    hour: job.hour_of_the_day,
  }
}

function callView({ api_route, created_at: at, api_key_id: key, ip_address }: NotedCall): NotedCallView {
  const epoch = typeof at === 'string' ? Date.parse(at) / 1000 : at
  return {
    at: Number.isFinite(epoch) ? epoch : undefined,
    call: cleanLine(api_route) ?? '',
    key,
    address: cleanLine(ip_address),
  }
}

export function volumeHandlers(parts: Services): HandlersOf<typeof volumeCommands> {
  const ask = askOf(parts)
  return {
    async listVolumes({ account }) {
      return (await ask(account, 'instance_read', ({ volumes }) => volumes.list())).map(volumeView)
    },
    deleteVolume: ({ account, id }) =>
      parts.accounts.session(account).deletions.request({ kind: 'volume', id }),
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

export function notificationHandlers(parts: Services): HandlersOf<typeof notificationCommands> {
  const { accounts, store } = parts
  const ask = askOf(parts)

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
      const { id } = accounts.session(account)
      const user = userOf(id)
      return (await ask(id, 'user_read', client => client.account.notificationPreferences(user))).known
    },
    async changePreferences({ account, preferences }) {
      const { id } = accounts.session(account)
      const user = userOf(id)
      const before = await ask(id, 'user_read', client =>
        client.account.notificationPreferences(user).catch(noneIfUntold),
      )
      const inForce = await ask(
        id,
        'user_write',
        client => client.account.replaceNotificationPreferences(user, withChanges(before, preferences)),
        'Changed the notification preferences',
      )
      return inForce.known
    },
    async listWebhooks({ account }) {
      return (await ask(account, 'user_read', ({ webhooks }) => webhooks.list())).map(webhookView)
    },
    async createWebhook({ account, fields: { name, url, events } }) {
      const body = { ...(name === undefined ? {} : { name }), webhook_url: url, event_types: events }
      const made = await ask(
        account,
        'user_write',
        ({ webhooks }) => webhooks.create(body),
        ({ webhook }) => `Created the webhook “${name ?? new URL(url).host}” #${webhook.id}`,
      )
      return newWebhook(made)
    },
    async rotateWebhookSecret({ account, id }) {
      const text = `Changed the secret of webhook #${id}`
      return newWebhook(await ask(account, 'user_write', ({ webhooks }) => webhooks.rotateSecret(id), text))
    },
    testWebhook: ({ account, id }) =>
      ask(account, 'user_write', ({ webhooks }) => webhooks.test(id), `Tested webhook #${id}`),
    async updateWebhook({ account, id, changes }) {
      const { webhook, enabled } = await ask(
        account,
        'user_write',
        ({ webhooks }) => webhooks.update(id, webhookRequest(changes)),
        `Changed webhook #${id}`,
      )
      return { webhook: webhookView(webhook), enabled }
    },
    deleteWebhook: ({ account, id }) =>
      ask(account, 'user_write', ({ webhooks }) => webhooks.remove(id), `Deleted webhook #${id}`),
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
