import { readEventType, shownEventTypes } from './event-type.ts'

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
