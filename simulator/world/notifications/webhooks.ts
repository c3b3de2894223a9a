import { notFound } from '../../errors.ts'
import type { WorldClock } from '../clock.ts'
import { Draw } from '../draw.ts'

/** What can be set on a webhook, section 2.7. */
export interface WebhookContent {
  name: string
  webhook_url: string
  event_types: string[]
}

/** A webhook. Times in world milliseconds. */
export interface Webhook extends WebhookContent {
  readonly id: number
  readonly created: number
  updated: number
}

/** The account's webhooks. Nothing is ever delivered to them. */
export class Webhooks {
  readonly #clock: WorldClock
  readonly #all = new Map<number, Webhook>()
  #nextId: number

  constructor(seed: number, clock: WorldClock) {
    this.#clock = clock
    this.#nextId = new Draw(seed, 'webhook ids').integer(1000, 9000)
  }

  /** Oldest first. */
  list(): Webhook[] {
    return [...this.#all.values()]
  }

  create(content: WebhookContent): Webhook {
    const now = this.#clock.now()
    const webhook = { id: this.#nextId, ...content, created: now, updated: now }
    this.#nextId += 1
    this.#all.set(webhook.id, webhook)
    return webhook
  }

  /** Changes the given fields. Throws 404 `not_found`. */
  update(id: number, changes: Partial<WebhookContent>): Webhook {
    return Object.assign(this.#get(id), changes, { updated: this.#clock.now() })
  }

  /** Throws 404 `not_found`. */
  remove(id: number): void {
    this.#all.delete(this.#get(id).id)
  }

  #get(id: number): Webhook {
    const webhook = this.#all.get(id)
    if (!webhook) throw notFound(`There is no webhook ${id}.`)
    return webhook
  }
}
