import type { ServiceError } from '#simulator/errors.ts'
import type { Account } from '../account.ts'
import type { WorldClock } from '../clock.ts'
import type { Challenge, Challenges, Channel } from './challenges.ts'
import { type BackupCodes, fitsNow } from './codes.ts'
import { attempts, countFailure, countSuccess, type Method, type Methods, refuseLocked } from './methods.ts'
import { twoFactorRefusal } from './refusals.ts'

/** A caller's proof of identity. */
export interface Proof {
  channel: Channel
  code: string | undefined
  secret: string | undefined
  methodId: number | undefined
  backupCode: string | undefined
  /** The `tfa_secret` of a caller who is logging in without a key. */
  login: string | null
}

/** The result of a proof: the account's method (null for email and legacy accounts), or a backup code. */
export interface Proven {
  method: Method | null
  backup: boolean
}

/** The error code for a wrong answer that belongs to no configured method. */
type Failure = '2fa_login_failed' | '2fa_verification_failed'

interface Parts {
  account: Account
  clock: WorldClock
  methods: Methods
  codes: BackupCodes
  challenges: Challenges
}

/** Checks codes, and counts failures of their methods. */
export class Verification {
  readonly #parts: Parts

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Checks a proof and uses it up. Throws `invalid_backup_code`, `missing_auth_value`, `missing_params`, `tfa_locked`,
   * the errors of the challenge and of choosing the method, and for a wrong code `2fa_verification_failed`, or
   * `failure` where no configured method is involved.
   */
  prove(proof: Proof, failure: Failure = '2fa_verification_failed'): Proven {
    const { methods } = this.#parts
    if (proof.backupCode !== undefined) {
      this.useBackupCode(proof.backupCode)
      return { method: null, backup: true }
    }
    if (proof.code === undefined) {
      throw twoFactorRefusal('missing_auth_value', 'code or backup_code is needed.')
    }
    if (proof.channel === 'totp') {
      const method = methods.choose('totp', proof.methodId)
      this.checkAuthenticator(method, proof.code)
      return { method, backup: false }
    }
    const method = proof.channel === 'sms' ? methods.find('sms', proof.methodId) : undefined
    if (method) refuseLocked(method, this.#parts.clock.now())
    const challenge = this.#challenge(proof)
    const number = method?.phoneNumber ?? (this.#legacy() ? this.#parts.account.state.phone_number : null)
    if (proof.channel === 'sms' && number !== null && challenge.to !== number) {
      throw twoFactorRefusal('phone_number_mismatch', 'The code went to another number than this method has.')
    }
    this.answer(challenge, proof.code, method ?? null, failure)
    if (proof.channel === 'sms' && number === null) {
      throw twoFactorRefusal('tfa_method_not_configured', 'No text message method is configured.')
    }
    return { method: method ?? null, backup: false }
  }

  /** Uses a backup code up. Throws 401 `invalid_backup_code`. */
  useBackupCode(code: string): void {
    if (!this.#legacy() && this.#parts.codes.use(code)) return
    throw twoFactorRefusal('invalid_backup_code', 'This backup code is not valid, or was used before.')
  }

  /** Checks an authenticator's code. Throws 429 `tfa_locked`, 400 `2fa_verification_failed`. */
  checkAuthenticator(method: Method & { kind: 'totp' }, code: string): void {
    const now = this.#parts.clock.now()
    refuseLocked(method, now)
    if (!fitsNow(method.secret, code)) throw this.#failed(method)
    countSuccess(method, now)
  }

  /** Checks the code of a challenge and uses the challenge up. Throws like a wrong code in `prove`. */
  answer(
    challenge: Challenge,
    code: string,
    method: Method | null,
    failure: Failure = '2fa_verification_failed',
  ): void {
    if (challenge.code !== code) throw this.#failed(method, failure)
    challenge.answered = true
    if (method) countSuccess(method, this.#parts.clock.now())
  }

  /** The challenge of a code: by its secret; without one, on the login path, the login's latest. */
  #challenge({ channel, secret, login }: Proof): Challenge {
    const { challenges } = this.#parts
    if (secret !== undefined) return challenges.open(secret, 'code', channel)
    if (login === null) throw twoFactorRefusal('missing_params', 'secret is needed with this code.')
    const latest = challenges.latest(
      known => known.login === login && known.channel === channel && known.purpose === 'code',
    )
    if (!latest) throw twoFactorRefusal('no_challenge_found', 'No code was sent for this login.')
    return latest
  }

  #failed(method: Method | null, failure: Failure = '2fa_verification_failed'): ServiceError {
    const msg = 'The code is wrong.'
    if (!method) return twoFactorRefusal(failure, msg)
    const now = this.#parts.clock.now()
    countFailure(method, now)
    return twoFactorRefusal('2fa_verification_failed', msg, attempts(method, now))
  }

  #legacy(): boolean {
    return this.#parts.account.state.legacy
  }
}
