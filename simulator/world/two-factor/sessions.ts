import type { Account } from '../account.ts'
import type { Caller } from '../api-keys.ts'
import { secret } from '../draw.ts'

/** The cookie for the session of a login without a key. */
export const sessionCookie = 'session'

/** Sessions from two-factor logins, and the logins in progress. */
export class Sessions {
  readonly #seed: number
  readonly #account: Account
  readonly #sessions = new Map<string, Caller>()
  readonly #completed = new Set<string>()

  constructor(seed: number, account: Account) {
    this.#seed = seed
    this.#account = account
  }

  /** Begins a session with its caller's permissions (all of them for a login in a browser); gives its key. */
  begin(caller: Caller): string {
    const key = secret(this.#seed, 'session key', this.#sessions.size)
    const { kind } = caller
    this.#sessions.set(key, kind === 'anonymous' ? { kind: 'account', key } : { ...caller, key })
    return key
  }

  /** The caller whose session has this key. */
  caller(key: string): Caller | undefined {
    return this.#sessions.get(key)
  }

  /** Whether a `tfa_secret` was issued and its login is not completed yet. */
  awaits(tfaSecret: string): boolean {
    return this.#account.knowsTfaSecret(tfaSecret) && !this.#completed.has(tfaSecret)
  }

  /** Uses a `tfa_secret` up. */
  complete(tfaSecret: string): void {
    this.#completed.add(tfaSecret)
  }
}
