import { epochSeconds, type WorldClock } from '../clock.ts'

/** A message as received on a phone or by mail. `at` in epoch seconds of world time. */
export interface Message {
  channel: 'sms' | 'email'
  to: string
  code: string
  /** The secret to send back with the code. */
  secret: string
  at: number
}

/** The messages that the service would have sent: none leaves this machine. */
export class Outbox {
  readonly #clock: WorldClock
  readonly #messages: Message[] = []

  constructor(clock: WorldClock) {
    this.#clock = clock
  }

  send(message: Omit<Message, 'at'>): void {
    this.#messages.push({ ...message, at: epochSeconds(this.#clock.now()) })
  }

  /** Oldest first. */
  messages(): Message[] {
    return [...this.#messages]
  }
}
