import { epochSeconds, type WorldClock } from '../clock.ts'

/** A message as a person would get it on a phone or by mail. `at` in epoch seconds of world time. */
export interface Message {
  channel: 'sms' | 'email'
  to: string
  code: string
  /** What is passed back with the code. */
  secret: string
  at: number
}

/** What the service would have sent: nothing leaves this machine. */
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
