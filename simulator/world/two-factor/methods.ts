import type { Account } from '../account/account.ts'
import type { WorldClock } from '../clock.ts'
import { Draw } from '../draw.ts'
import type { Method, SmsMethod, TotpMethod } from './method.ts'
import { twoFactorRefusal } from './refusals.ts'

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
