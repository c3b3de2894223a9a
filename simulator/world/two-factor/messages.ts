import type { Account, Message } from '../account.ts'
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

/** Sends codes by email, and by text message within the service's restrictions. */
export class Messages {
  readonly #account: Account
  readonly #clock: WorldClock
  readonly #challenges: Challenges
  #sent: Sent[] = []

  constructor(account: Account, clock: WorldClock, challenges: Challenges) {
    this.#account = account
    this.#clock = clock
    this.#challenges = challenges
  }

  /** Throws 400 `missing_email` or `email_not_verified`: without a verified address no codes are sent at all. */
  requireVerified(): string {
    const { email, email_verified } = this.#account.state
    if (email === null) throw twoFactorRefusal('missing_email', 'There is no email address on the account.')
    if (email_verified) return email
    throw twoFactorRefusal('email_not_verified', 'The email address is not verified.')
  }

  /** Sends a code for a new challenge. Throws like `requireVerified`, and 500 `challenge_creation_failed`. */
  sendEmail(about: Pick<Challenge, 'purpose' | 'login'>): Challenge {
    const to = this.requireVerified()
    const challenge = this.#challenges.create({ ...about, channel: 'email', to, methodId: null })
    this.#deliver('email', challenge)
    return challenge
  }

  /** Sends a new code for a challenge. Throws like `sendEmail`. */
  resendEmail(challenge: Challenge): void {
    this.requireVerified()
    this.#challenges.renew(challenge, false)
    this.#deliver('email', challenge)
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
  sendText(about: Omit<Parameters<Challenges['create']>[0], 'channel'>): Challenge {
    this.#check(about.to, beforeLogin(about))
    const challenge = this.#challenges.create({ ...about, channel: 'sms' })
    this.#deliver('sms', challenge)
    return challenge
  }

  /** Sends a new code for a challenge, on request under a new secret. Throws like `sendText`. */
  resendText(challenge: Challenge, withSecret: boolean): void {
    this.#check(challenge.to, beforeLogin(challenge))
    this.#challenges.renew(challenge, withSecret)
    this.#deliver('sms', challenge)
  }

  #check(to: string, early: boolean): void {
    if (this.#account.state.sms_fraud) {
      throw twoFactorRefusal(
        'sms_fraud_detected',
        'This account is flagged for SMS fraud and gets no messages.',
      )
    }
    if (this.#account.state.blocked_numbers.some(blocked => to.startsWith(blocked))) {
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

  #deliver(channel: Message['channel'], challenge: Challenge): void {
    const { to, code, secret } = challenge
    if (channel === 'sms') {
      this.#sent = [...this.#since(CAP.span), { to, at: this.#clock.now(), challenge }]
    }
    this.#account.receive({ channel, to, code, secret })
  }

  #since(span: number): Sent[] {
    const from = this.#clock.now() - span
    return this.#sent.filter(({ at }) => at > from)
  }
}

/** Whether the challenge's caller is not verified yet. */
function beforeLogin({ login, purpose }: Pick<Challenge, 'login' | 'purpose'>): boolean {
  return login !== null || purpose === 'authorization'
}
