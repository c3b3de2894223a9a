import type { AccountState } from '../account.ts'
import type { WorldClock } from '../clock.ts'
import { Draw, secret } from '../draw.ts'
import { twoFactorRefusal } from './refusals.ts'

/** World milliseconds in which a challenge can be answered (section 8). */
const LIFETIME = 10 * 60_000
/** World milliseconds in which methods may be added (section 8). */
const WINDOW = 30 * 60_000
/** World milliseconds after which a challenge is deleted, and then unknown rather than expired. */
const FORGOTTEN = 86_400_000

/** The channels of a proof. */
export type Channel = 'sms' | 'totp' | 'email'

/** What an answer permits: anything that needs a code, or only adding a method. */
export type Purpose = 'code' | 'authorization'

/** A request for the code that was sent by a channel. */
export interface Challenge {
  readonly channel: Channel
  readonly purpose: Purpose
  /** Number or address; empty for an authenticator. */
  readonly to: string
  /** The method's id, if it concerns one. */
  readonly methodId: number | null
  /** The `tfa_secret` of the login it belongs to; null for callers with a key. */
  readonly login: string | null
  secret: string
  /** Empty for an authenticator, which makes its own. */
  code: string
  /** World milliseconds of the latest sending. */
  sentAt: number
  answered: boolean
}

/** The service's cache: all challenges, answered ones included, and the time in which methods may be added. */
export class Challenges {
  readonly #seed: number
  readonly #state: AccountState
  readonly #clock: WorldClock
  #count = 0
  #challenges: Challenge[] = []
  #windowEnds = Number.NEGATIVE_INFINITY

  constructor(seed: number, state: AccountState, clock: WorldClock) {
    this.#seed = seed
    this.#state = state
    this.#clock = clock
  }

  /** Makes a challenge. Throws 500 `challenge_creation_failed` while the cache is down. */
  create(about: Pick<Challenge, 'channel' | 'purpose' | 'to' | 'methodId' | 'login'>): Challenge {
    const challenge: Challenge = { ...about, ...this.#fresh(), secret: this.#secret(), answered: false }
    const horizon = challenge.sentAt - FORGOTTEN
    this.#challenges = this.#challenges.filter(({ sentAt }) => sentAt > horizon)
    this.#challenges.push(challenge)
    return challenge
  }

  /** Gives a challenge a new code and time, and on request a new secret. Throws like `create`. */
  renew(challenge: Challenge, withSecret: boolean): void {
    Object.assign(challenge, this.#fresh())
    if (withSecret) challenge.secret = this.#secret()
  }

  /**
   * The open challenge with a secret. Throws 400 `challenge_not_found` if none fits purpose and channel, 400
   * `2fa_expired` if it is older than 10 minutes.
   */
  open(secret: string, purpose: Purpose | null, channel: Channel | null): Challenge {
    const challenge = this.#challenges.find(
      known =>
        known.secret === secret &&
        !known.answered &&
        (purpose === null || known.purpose === purpose) &&
        (channel === null || known.channel === channel),
    )
    if (!challenge) throw twoFactorRefusal('challenge_not_found', 'There is no challenge for this secret.')
    if (this.#expired(challenge)) {
      throw twoFactorRefusal('2fa_expired', 'This code is older than 10 minutes: ask for a new one.')
    }
    return challenge
  }

  /** The latest fitting challenge that can still be answered. */
  latest(fits: (challenge: Challenge) => boolean): Challenge | undefined {
    return this.#challenges.findLast(known => !known.answered && !this.#expired(known) && fits(known))
  }

  /** The unanswered challenges, expired ones included. */
  unanswered(): Challenge[] {
    return this.#challenges.filter(({ answered }) => !answered)
  }

  /** Opens the time after an authorization in which methods may be added. */
  openWindow(): void {
    this.#windowEnds = this.#clock.now() + WINDOW
  }

  /** Whether a method may be added now, if the cache is available. */
  isWindowOpen(): boolean {
    return !this.#state.cache_down && this.#clock.now() < this.#windowEnds
  }

  /** Throws 503 `service_unavailable` while the cache is down. */
  refuseUnavailable(): void {
    if (!this.#state.cache_down) return
    throw twoFactorRefusal('service_unavailable', 'The authorization cannot be checked now. Try again.')
  }

  /** Throws 403 `authorization_required` when the window is closed, 503 while the cache is down. */
  requireWindow(): void {
    this.refuseUnavailable()
    if (this.isWindowOpen()) return
    throw twoFactorRefusal(
      'authorization_required',
      'Authorize the new method first: that holds for 30 minutes.',
    )
  }

  #expired({ sentAt }: Challenge): boolean {
    return this.#clock.now() >= sentAt + LIFETIME
  }

  #secret(): string {
    return secret(this.#seed, 'two-factor challenge', this.#count)
  }

  #fresh(): Pick<Challenge, 'code' | 'sentAt'> {
    if (this.#state.cache_down) {
      throw twoFactorRefusal('challenge_creation_failed', 'The challenge could not be created. Try again.')
    }
    this.#count += 1
    const code = new Draw(this.#seed, 'two-factor code', this.#count).integer(0, 999_999)
    return { code: String(code).padStart(6, '0'), sentAt: this.#clock.now() }
  }
}
