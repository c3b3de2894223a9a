import type { AccountState } from '../account/account.ts'
import type { Outbox } from '../account/outbox.ts'
import type { WorldClock } from '../clock.ts'
import type { Challenge, Challenges } from './challenges.ts'
import { twoFactorRefusal } from './refusals.ts'

/** World milliseconds in which a code counts as recent. */
const RECENT = 60_000
/** The most text messages to an account in a span of world milliseconds. */
const RATE = { messages: 10, span: 10 * 60_000 }
/** The most messages to a number before its owner is verified, in a span of world milliseconds. */
const CAP = { messages: 5, span: 3_600_000 }
/** Twilio's own test numbers for failures: an invalid number, and one that receives no messages. */
const undeliverable: ReadonlySet<string> = new Set(['+15005550001', '+15005550009'])

interface Sent {
  to: string
  /** World milliseconds. */
  at: number
  challenge: Challenge
}

/** Sends codes by text message, within the service's restrictions. */
export class TextMessages {
  readonly #state: AccountState
  readonly #clock: WorldClock
  readonly #outbox: Outbox
  readonly #challenges: Challenges
  #sent: Sent[] = []

  constructor(state: AccountState, clock: WorldClock, outbox: Outbox, challenges: Challenges) {
    this.#state = state
    this.#clock = clock
    this.#outbox = outbox
    this.#challenges = challenges
  }

  /** Throws 400 `tfa_challenge_exists` when a code went to the number less than 60 seconds ago and is unused. */
  refuseRecent(to: string): void {
    const since = this.#clock.now() - RECENT
    const recent = this.#challenges.latest(
      known => known.channel === 'sms' && known.purpose === 'code' && known.to === to && known.sentAt > since,
    )
    if (!recent) return
    throw twoFactorRefusal(
      'tfa_challenge_exists',
      'A code was sent a moment ago: have it sent again instead.',
    )
  }

  /**
   * Sends a code for a new challenge. Throws 403 `sms_fraud_detected`, 400 `sms_blocked_number`, 429
   * `sms_rate_limited` or `preauth_phone_cap`, 400 `twilio_error`, 500 `challenge_creation_failed`.
   */
  send(about: Omit<Parameters<Challenges['create']>[0], 'channel'>): Challenge {
    this.#check(about.to, about.login !== null || about.purpose === 'authorization')
    const challenge = this.#challenges.create({ ...about, channel: 'sms' })
    this.#deliver(challenge)
    return challenge
  }

  /** Sends a new code for a challenge, on request under a new secret. Throws like `send`. */
  resend(challenge: Challenge, withSecret: boolean): void {
    this.#check(challenge.to, beforeLogin(challenge))
    this.#challenges.renew(challenge, withSecret)
    this.#deliver(challenge)
  }

  #check(to: string, early: boolean): void {
    if (this.#state.sms_fraud) {
      throw twoFactorRefusal(
        'sms_fraud_detected',
        'This account is flagged for SMS fraud and gets no messages.',
      )
    }
    if (this.#state.blocked_numbers.some(blocked => to.startsWith(blocked))) {
      throw twoFactorRefusal('sms_blocked_number', 'This number is flagged as a high risk of SMS fraud.')
    }
    if (this.#since(RATE.span).length >= RATE.messages) {
      throw twoFactorRefusal('sms_rate_limited', 'Too many codes were requested. Wait a few minutes.')
    }
    const unproven = this.#since(CAP.span).filter(
      sent => sent.to === to && beforeLogin(sent.challenge) && !sent.challenge.answered,
    )
    if (early && unproven.length >= CAP.messages) {
      throw twoFactorRefusal('preauth_phone_cap', 'This number was used in too many attempts. Wait an hour.')
    }
    if (undeliverable.has(to)) {
      throw twoFactorRefusal('twilio_error', 'The message could not be delivered to this number.')
    }
  }

  #deliver(challenge: Challenge): void {
    const { to, code, secret } = challenge
    const now = this.#clock.now()
    this.#sent = [...this.#since(CAP.span), { to, at: now, challenge }]
    this.#outbox.send({ channel: 'sms', to, code, secret })
  }

  #since(span: number): Sent[] {
    const from = this.#clock.now() - span
    return this.#sent.filter(({ at }) => at > from)
  }
}

/** Whether the challenge's caller is not verified yet. */
function beforeLogin({ login, purpose }: Challenge): boolean {
  return login !== null || purpose === 'authorization'
}
