import type { AccountState } from '../account/account.ts'
import type { Outbox } from '../account/outbox.ts'
import type { Challenge, Challenges } from './challenges.ts'
import { twoFactorRefusal } from './refusals.ts'

/** Sends codes to the account's email address. */
export class Emails {
  readonly #state: AccountState
  readonly #outbox: Outbox
  readonly #challenges: Challenges

  constructor(state: AccountState, outbox: Outbox, challenges: Challenges) {
    this.#state = state
    this.#outbox = outbox
    this.#challenges = challenges
  }

  /** Throws 400 `missing_email` or `email_not_verified`: without a verified address no codes are sent at all. */
  requireVerified(): string {
    const { email, email_verified } = this.#state
    if (email === null) throw twoFactorRefusal('missing_email', 'There is no email address on the account.')
    if (email_verified) return email
    throw twoFactorRefusal('email_not_verified', 'The email address is not verified.')
  }

  /** Sends a code for a new challenge. Throws like `requireVerified`, and 500 `challenge_creation_failed`. */
  send(about: Pick<Challenge, 'purpose' | 'login'>): Challenge {
    const to = this.requireVerified()
    const challenge = this.#challenges.create({ ...about, channel: 'email', to, methodId: null })
    this.#deliver(challenge)
    return challenge
  }

  /** Sends a new code for a challenge. Throws like `send`. */
  resend(challenge: Challenge): void {
    this.requireVerified()
    this.#challenges.renew(challenge, false)
    this.#deliver(challenge)
  }

  #deliver({ to, code, secret }: Challenge): void {
    this.#outbox.send({ channel: 'email', to, code, secret })
  }
}
