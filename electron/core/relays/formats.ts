import { createHmac } from 'node:crypto'
import { BerthError } from '#shared/problem.ts'
import type { RelayKind } from '#shared/relay.ts'
import { noTopic } from './messages.ts'
import type { Message } from './record.ts'

/** What the keychain has of a relay. */
export interface Address {
  url: string
  /** Signs what a webhook gets: `whsec_` and 32 bytes in base64. */
  secret?: string | undefined
}

/** A request that hands a message over. */
export interface Delivery {
  url: string
  headers: Record<string, string>
  body: string
}

/**
 * Letters of a title and a text. Receivers reject longer ones: ntfy a text of 4,096 bytes, Discord both with over 2,000
 * characters, for which Markdown's are escaped.
 */
const most = { title: 120, text: 850 }
/** A webhook gets at most so many alerts of a message one by one. */
const mostAlerts = 100

/** `at`: epoch milliseconds. Throws `no_topic` for an address of ntfy without one. */
export function deliveryOf(kind: RelayKind, { url, secret }: Address, given: Message, at: number): Delivery {
  const message = { ...given, title: cut(given.title, most.title), text: cut(given.text, most.text) }
  const { to, content } = formats[kind](url, message)
  const body = JSON.stringify(content)
  return {
    url: to,
    headers: {
      'content-type': 'application/json',
      'idempotency-key': message.id,
      ...(kind === 'webhook' && secret !== undefined && signed(message.id, at, body, secret)),
    },
    body,
  }
}

type Format = (url: string, message: Message) => { to: string; content: object }

const formats: Record<RelayKind, Format> = {
  // As JSON to the server, since a header has no other letters than English ones.
  ntfy(url, { title, text, critical }) {
    const { server, topic } = topicOf(url)
    return { to: server, content: { topic, title, message: text, priority: critical ? 4 : 3 } }
  },
  slack(url, { title, text }) {
    const whole = `${title}\n${text}`
    const blocks = [{ type: 'section', text: { type: 'plain_text', text: whole, emoji: false } }]
    return { to: url, content: { text: forSlack(whole), blocks } }
  },
  // No mention, no link's preview (4): a label may look like one.
  discord: (url, { title, text }) => ({
    to: url,
    content: {
      content: `**${forDiscord(title)}**\n${forDiscord(text)}`,
      flags: 4,
      allowed_mentions: { parse: [] },
    },
  }),
  teams: (url, { title, text }) => ({
    to: url,
    content: { type: 'message', attachments: [card(title, text)] },
  }),
  webhook: (url, { id, title, text, critical, alerts }) => ({
    to: url,
    content: {
      ...{ id, title, text, critical, count: alerts.length },
      alerts: alerts.slice(0, mostAlerts).map(alert => ({ ...alert, at: iso(alert.at) })),
    },
  }),
}

/** The server and the topic of an ntfy address such as `https://ntfy.sh/my-topic`. Throws `no_topic`. */
export function topicOf(address: string): { server: string; topic: string } {
  const url = new URL(address)
  const [, path = '', topic] = /^(.*\/)([A-Za-z0-9_-]{1,64})\/?$/.exec(url.pathname) ?? []
  if (topic === undefined) throw new BerthError(noTopic)
  url.pathname = path
  return { server: url.href, topic }
}

/** The headers of Standard Webhooks: libraries of many languages check them. */
function signed(id: string, at: number, body: string, secret: string): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000))
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}

/** In runs of text, which Teams draws as they are. */
function card(title: string, text: string): object {
  const lines = (inlines: object[]) => ({ type: 'RichTextBlock', inlines })
  return {
    contentType: 'application/vnd.microsoft.card.adaptive',
    content: {
      $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
      type: 'AdaptiveCard',
      version: '1.4',
      body: [
        lines([{ type: 'TextRun', text: title, weight: 'bolder' }]),
        ...text.split('\n').map(line => lines([{ type: 'TextRun', text: line }])),
      ],
    },
  }
}

function forSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function forDiscord(text: string): string {
  return text.replaceAll(/[\\*_~`|>[\]()#<@-]/g, String.raw`\$&`)
}

function iso(at: number): string {
  return Number.isFinite(at) && Math.abs(at) < 8e15 ? new Date(at).toISOString() : ''
}

function cut(text: string, length: number): string {
  const letters = [...text]
  return letters.length > length ? `${letters.slice(0, length - 1).join('')}…` : text
}
