import type { WorldClock } from './clock.ts'
import { Collection } from './collection.ts'
import { Draw, secret } from './draw.ts'

/** The event types in the interface (section 6); others of the same form are accepted too. */
export const shownEventTypes = ['client:low_credit', 'client:outbid', 'host:machine_offline'] as const

/** The two parts of an event type `<audience>:<name>`; undefined for a text of another form. */
export function readEventType(text: string): { audience: string; name: string } | undefined {
  const match = /^([a-z][a-z0-9_]*):([a-z][a-z0-9_]*)$/.exec(text)
  const [, audience, name] = match ?? []
  return audience === undefined || name === undefined ? undefined : { audience, name }
}

/** Which channels carry an event. */
export interface Channels {
  email: boolean
  webhooks: boolean
}

/** Section 2.8: audience, then event, then channels. */
export type Preferences = Record<string, Record<string, Channels>>

/** The account's notification preferences. */
export class NotificationPreferences {
  #all: Preferences = {}

  constructor() {
    for (const type of shownEventTypes) this.#set(type, { email: true, webhooks: false })
  }

  all(): Preferences {
    return this.#all
  }

  replace(preferences: Preferences): void {
    this.#all = structuredClone(preferences)
  }

  /** Turns on the webhooks channel of these event types. Gives those for which it was off. */
  enableWebhooks(eventTypes: readonly string[]): string[] {
    return eventTypes.filter(type => {
      const channels = this.#get(type)
      if (channels?.webhooks) return false
      this.#set(type, { email: channels?.email ?? false, webhooks: true })
      return true
    })
  }

  #get(type: string): Channels | undefined {
    const event = readEventType(type)
    return event && this.#all[event.audience]?.[event.name]
  }

  #set(type: string, channels: Channels): void {
    const event = readEventType(type)
    if (!event) return
    this.#all[event.audience] = { ...this.#all[event.audience], [event.name]: channels }
  }
}

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
export class Webhooks extends Collection<Webhook> {
  readonly #seed: number
  readonly #clock: WorldClock

  constructor(seed: number, clock: WorldClock) {
    super('webhook', new Draw(seed, 'webhook ids').integer(1000, 9000))
    this.#seed = seed
    this.#clock = clock
  }

  create(content: WebhookContent): Webhook {
    const now = this.#clock.now()
    return this.add(id => ({ id, ...content, created: now, updated: now, rotations: 0 }))
  }

  /** Changes the given fields. Throws 404 `not_found`. */
  update(id: number, changes: Partial<WebhookContent>): Webhook {
    return Object.assign(this.get(id), changes, { updated: this.#clock.now() })
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
}
