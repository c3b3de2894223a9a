import { notFound } from '#simulator/errors.ts'
import type { WorldClock } from '../clock.ts'
import { Draw, secret } from '../draw.ts'

/** The settings of a webhook, section 2.7. */
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
  /** How often its secret was changed. */
  rotations: number
}

/** The account's webhooks. Nothing is ever delivered to them. */
export class Webhooks {
  readonly #seed: number
  readonly #clock: WorldClock
  readonly #all = new Map<number, Webhook>()
  #nextId: number

  constructor(seed: number, clock: WorldClock) {
    this.#seed = seed
    this.#clock = clock
    this.#nextId = new Draw(seed, 'webhook ids').integer(1000, 9000)
  }

  /** Oldest first. */
  list(): Webhook[] {
    return [...this.#all.values()]
  }

  create(content: WebhookContent): Webhook {
    const now = this.#clock.now()
    const webhook = { id: this.#nextId, ...content, created: now, updated: now, rotations: 0 }
    this.#nextId += 1
    this.#all.set(webhook.id, webhook)
    return webhook
  }

  /** Changes the given fields. Throws 404 `not_found`. */
  update(id: number, changes: Partial<WebhookContent>): Webhook {
    return Object.assign(this.get(id), changes, { updated: this.#clock.now() })
  }

  /** Throws 404 `not_found`. */
  remove(id: number): void {
    this.#all.delete(this.get(id).id)
  }

  /** The secret that signs deliveries. */
  secretOf({ id, rotations }: Webhook): string {
    return secret(this.#seed, 'webhook secret', id, rotations)
  }

  /** Gives it a new secret. Throws 404 `not_found`. */
  rotate(id: number): Webhook {
    const webhook = this.get(id)
    webhook.rotations += 1
    return webhook
  }

  /** Throws 404 `not_found`. */
  get(id: number): Webhook {
    const webhook = this.#all.get(id)
    if (!webhook) throw notFound(`There is no webhook ${id}.`)
    return webhook
  }
}
