import type { Account } from '../account.ts'
import { epochSeconds, type WorldClock } from '../clock.ts'
import { Draw } from '../draw.ts'
import { twoFactorRefusal } from './refusals.ts'

/** Failed attempts that lock a method. */
const TOO_MANY = 5
/** World milliseconds of a lockout (section 8). */
const LOCKOUT = 15 * 60_000

interface CommonFields {
  id: number
  label: string
  isPrimary: boolean
  failCount: number
  /** World milliseconds; null if it never was locked, in the past once that is over. */
  lockedUntil: number | null
  /** World milliseconds. */
  createdAt: number
  /** World milliseconds. */
  lastUsed: number
}

export interface SmsMethod extends CommonFields {
  kind: 'sms'
  /** E.164. */
  phoneNumber: string
}

export interface TotpMethod extends CommonFields {
  kind: 'totp'
  /** Base32. */
  secret: string
}

/** A method on the account, section 2.6. */
export type Method = SmsMethod | TotpMethod

/** `fail_count` and `locked_until` for errors and records; a lockout that is over leaves no trace. */
export function attempts(method: Method, now: number): { fail_count: number; locked_until: number | null } {
  const { failCount, lockedUntil } = method
  if (lockedUntil === null) return { fail_count: failCount, locked_until: null }
  if (now >= lockedUntil) return { fail_count: 0, locked_until: null }
  return { fail_count: failCount, locked_until: epochSeconds(lockedUntil) }
}

/** Throws 429 `tfa_locked` while a method is locked. */
export function refuseLocked(method: Method, now: number): void {
  const told = attempts(method, now)
  if (told.locked_until === null) return
  throw twoFactorRefusal(
    'tfa_locked',
    'Too many failed attempts: this method is locked for 15 minutes.',
    told,
  )
}

/** Counts a failed attempt; the fifth in a row locks the method. */
export function countFailure(method: Method, now: number): void {
  method.failCount = attempts(method, now).fail_count + 1
  method.lockedUntil = method.failCount >= TOO_MANY ? now + LOCKOUT : null
}

/** Notes a successful use, which resets the failures. */
export function countSuccess(method: Method, now: number): void {
  method.failCount = 0
  method.lockedUntil = null
  method.lastUsed = now
}

/** The record of section 2.6: without an authenticator's secret, the number masked. */
export function methodRecord(method: Method, userId: number, now: number): Record<string, unknown> {
  return {
    id: method.id,
    user_id: userId,
    method: method.kind,
    label: method.label,
    ...(method.kind === 'sms' ? { phone_number: masked(method.phoneNumber) } : {}),
    is_primary: method.isPrimary,
    ...attempts(method, now),
    created_at: epochSeconds(method.createdAt),
    last_used: epochSeconds(method.lastUsed),
  }
}

/** All but the last 4 digits starred out. */
function masked(phoneNumber: string): string {
  return '*'.repeat(phoneNumber.length - 4) + phoneNumber.slice(-4)
}

/** The kinds of stored methods; email never is one. */
export type StoredKind = Method['kind']

type Added = Pick<SmsMethod, 'kind' | 'phoneNumber' | 'label'> | Pick<TotpMethod, 'kind' | 'secret' | 'label'>

/** The account's methods. A legacy account has none. */
export class Methods {
  readonly #account: Account
  readonly #clock: WorldClock
  readonly #firstId: number
  #added = 0
  #rows: Method[] = []

  constructor(seed: number, account: Account, clock: WorldClock) {
    this.#account = account
    this.#clock = clock
    this.#firstId = new Draw(seed, 'two-factor method ids').integer(1000, 9000)
  }

  /** Oldest first. */
  list(): Method[] {
    return this.#account.state.legacy ? [] : [...this.#rows]
  }

  /** Throws 404 `not_found`. */
  get(id: number): Method {
    const method = this.list().find(method => method.id === id)
    if (!method) throw twoFactorRefusal('not_found', `There is no method ${id} on this account.`)
    return method
  }

  /**
   * The method of a kind, by its id if there are several; undefined without any. Throws 404 `not_found` for an unknown
   * id, 400 `invalid_tfa_method` for one of another kind, 400 `bad_request` when the id is needed and missing.
   */
  find(kind: 'sms', id: number | undefined): SmsMethod | undefined
  find(kind: 'totp', id: number | undefined): TotpMethod | undefined
  find(kind: StoredKind, id: number | undefined): Method | undefined
  find(kind: StoredKind, id: number | undefined): Method | undefined {
    if (id !== undefined) {
      const method = this.get(id)
      if (method.kind === kind) return method
      throw twoFactorRefusal('invalid_tfa_method', `Method ${id} is not of the kind ${kind}.`)
    }
    const [method, ...others] = this.list().filter(method => method.kind === kind)
    if (others.length === 0) return method
    throw twoFactorRefusal('bad_request', `There are several ${kind} methods: tfa_method_id is needed.`)
  }

  /** Like `find`, but throws 400 `tfa_method_not_configured` without any. */
  choose(kind: 'sms', id: number | undefined): SmsMethod
  choose(kind: 'totp', id: number | undefined): TotpMethod
  choose(kind: StoredKind, id: number | undefined): Method
  choose(kind: StoredKind, id: number | undefined): Method {
    const method = this.find(kind, id)
    if (!method) throw twoFactorRefusal('tfa_method_not_configured', `No ${kind} method is configured.`)
    return method
  }

  /** Throws 400 `duplicate_tfa_method`: at most one authenticator, and one method per number, are allowed. */
  refuseDuplicate(kind: 'totp'): void
  refuseDuplicate(kind: 'sms', phoneNumber: string): void
  refuseDuplicate(kind: StoredKind, phoneNumber?: string): void {
    const known = this.list().some(method =>
      method.kind === 'sms' ? method.phoneNumber === phoneNumber : kind === 'totp',
    )
    if (!known) return
    const what = kind === 'totp' ? 'An authenticator' : 'This number'
    throw twoFactorRefusal('duplicate_tfa_method', `${what} is configured already.`)
  }

  /** Adds a method; the first one is the primary one. A legacy account becomes an ordinary one. */
  add(added: Added): Method {
    const now = this.#clock.now()
    if (this.#account.state.legacy) this.#rows = []
    this.#account.state.legacy = false
    const method: Method = {
      ...added,
      id: this.#firstId + this.#added++,
      isPrimary: this.#rows.length === 0,
      failCount: 0,
      lockedUntil: null,
      createdAt: now,
      lastUsed: now,
    }
    this.#rows.push(method)
    return method
  }

  /** Removes a method; if it was the primary one, the oldest one left replaces it. */
  remove(method: Method): void {
    this.#rows = this.#rows.filter(other => other !== method)
    const [oldest] = this.#rows
    if (method.isPrimary && oldest) oldest.isPrimary = true
  }

  clear(): void {
    this.#rows = []
  }

  makePrimary(method: Method): void {
    for (const other of this.#rows) other.isPrimary = other === method
  }
}
