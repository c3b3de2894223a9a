import { invalidArgs } from '#simulator/errors.ts'
import type { ApiRequest, Layer } from '#simulator/http/route.ts'
import type { Webhook, WebhookContent } from '#simulator/world/notifications.ts'
import type { World } from '#simulator/world/world.ts'
import { readContentChanges, readNew, subscribed, webhookRecord } from '../notifications.ts'

/** Webhooks: at most four, to https addresses. Only the answers to a creation and a rotation hold the secret. */
export const publicWebhooks: Layer = {
  'GET /webhooks/': ({ world }) => ({
    success: true,
    webhooks: world.webhooks.list().map(webhook => record(world, webhook)),
  }),
  'POST /webhooks/': create,
  'PUT /webhooks/:webhook/': update,
  'POST /webhooks/:webhook/rotate-secret/': { permission: 'user_write', answer: rotate },
  'POST /webhooks/:webhook/test/': { permission: 'user_write', answer: test },
}

function rotate({ world, id }: ApiRequest) {
  return { success: true, webhook: withSecret(world, world.webhooks.rotate(id('webhook'))) }
}

function test({ world, id }: ApiRequest) {
  world.webhooks.get(id('webhook'))
  return { success: true, msg: 'Test webhook delivered' }
}

const MOST = 4
/** Characters. */
const LONGEST_ADDRESS = 2048
const LONGEST_NAME = 120

function create({ world, body }: ApiRequest) {
  if (world.webhooks.list().length >= MOST) throw invalidArgs(`There are at most ${MOST} webhooks.`)
  const fields = body()
  const content = readNew(fields)
  checkLimits(fields.has('name') ? content : { webhook_url: content.webhook_url })
  const webhook = world.webhooks.create(content)
  return subscribed(world, webhook, withSecret(world, webhook))
}

function update({ world, body, id }: ApiRequest) {
  const changes = readContentChanges(body())
  checkLimits(changes)
  const webhook = world.webhooks.update(id('webhook'), changes)
  return subscribed(world, webhook, record(world, webhook))
}

function checkLimits({ name = '', webhook_url }: Partial<WebhookContent>): void {
  if (name.length > LONGEST_NAME) throw invalidArgs(`A name has at most ${LONGEST_NAME} characters.`)
  if (webhook_url !== undefined) checkAddress(webhook_url)
}

function checkAddress(address: string): void {
  if (address.length > LONGEST_ADDRESS) {
    throw invalidArgs(`webhook_url has at most ${LONGEST_ADDRESS} characters.`)
  }
  const { protocol, hostname } = new URL(address)
  if (protocol !== 'https:') throw invalidArgs('webhook_url must be an https address.')
  if (hostname === 'localhost' || /^(127|10|192\.168)\./.test(hostname)) {
    throw invalidArgs('webhook_url must be a public address.')
  }
}

function withSecret(world: World, webhook: Webhook) {
  return { ...record(world, webhook), webhook_secret: world.webhooks.secretOf(webhook) }
}

function record(world: World, webhook: Webhook): Record<string, unknown> {
  const { name, webhook_url, created, updated } = webhook
  return {
    ...webhookRecord(webhook, world.account.id),
    name: name === webhook_url ? null : name,
    created_at: created / 1000,
    updated_at: updated / 1000,
  }
}
