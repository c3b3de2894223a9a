import { epochSeconds, type WorldClock } from './clock.ts'
import { Draw, secret } from './draw.ts'
import type { Ledger } from './ledger.ts'
import { dollars, micro } from './money.ts'

/** A public key on the account, as `GET /api/v0/ssh/` lists it. */
export interface AccountSshKey {
  id: number
  user_id: number
  ssh_key: string
  /** Epoch seconds. */
  created_at: number
}

/** A message as received on a phone or by mail. `at` in epoch seconds of world time. */
export interface Message {
  channel: 'sms' | 'email'
  to: string
  code: string
  /** The secret to send back with the code. */
  secret: string
  at: number
}

/** A call that changed something, as `GET /api/v0/audit_logs/` lists it. */
export interface AuditEntry {
  /** Epoch seconds. */
  created_at: number
  api_key_id: number
  api_route: string
}

const FIRST_CREDIT = micro(25)

/** The one account of this world. */
export class Account {
  readonly id: number
  readonly username: string
  readonly apiKey: string
  readonly created: number
  readonly sshKeys: AccountSshKey[] = []
  /** Payments: dollars, and their time in epoch seconds. Oldest first. */
  readonly payments: { at: number; amount: number }[] = []
  /** The messages that the service would have sent, oldest first: none leaves this machine. */
  readonly messages: Message[] = []
  /** Calls that changed something, oldest first. */
  readonly audit: AuditEntry[] = []
  /** States that some error codes need; tests set them through the control plane. */
  readonly state = {
    /** Null when there is none on the account. */
    email: null as string | null,
    email_verified: true,
    /** Two-factor authentication from before methods were stored: enabled, without method rows. */
    legacy: false,
    /** Calls come from a team context. */
    team: false,
    /** Flagged for SMS fraud. */
    sms_fraud: false,
    /** Numbers flagged as high SMS-fraud risk. */
    blocked_numbers: [] as string[],
    /** The cache behind authorization checks is unavailable. */
    cache_down: false,
    /** E.164; null when there is none on file. */
    phone_number: null as string | null,
    /** Permissions of keys are disabled: keys made then have full access. */
    permissions_disabled: false,
  }
  readonly #seed: number
  readonly #clock: WorldClock
  readonly #ledger: Ledger
  /** Micro-dollars that were paid ahead for instances at a moment, and are not charged yet. */
  heldAt: (now: number) => number = () => 0
  #paidIn = FIRST_CREDIT
  #sshKeysMade = 0
  #tfaSecrets: string[] = []

  constructor(seed: number, clock: WorldClock, ledger: Ledger) {
    const draw = new Draw(seed, 'account')
    this.#seed = seed
    this.#clock = clock
    this.#ledger = ledger
    this.id = draw.integer(100_000, 999_999)
    this.username = `renter${this.id}`
    this.state.email = `${this.username}@example.com`
    this.apiKey = secret(seed, 'account key')
    this.created = clock.now() - draw.integer(30, 900) * 86_400_000
    this.payments.push({ at: epochSeconds(this.created), amount: dollars(FIRST_CREDIT) })
  }

  /** Dollars left; below zero when more was spent than paid in. */
  credit(): number {
    return dollars(this.creditAt(this.#clock.now()))
  }

  /** Micro-dollars left at a moment of world time. */
  creditAt(now: number): number {
    return this.#paidIn - this.#ledger.total(now) - this.heldAt(now)
  }

  /** Sets the dollars left. */
  setCredit(credit: number): void {
    const now = this.#clock.now()
    this.#paidIn = micro(credit) + this.#ledger.total(now) + this.heldAt(now)
  }

  /** Pays in so many dollars. */
  topUp(amount: number): void {
    this.#paidIn += micro(amount)
    this.payments.push({ at: epochSeconds(this.#clock.now()), amount })
  }

  /** Adds a public key; an existing one is returned as it is. */
  addSshKey(text: string): AccountSshKey {
    const known = this.sshKeys.find(key => key.ssh_key === text)
    if (known) return known
    const key = {
      id: new Draw(this.#seed, 'ssh key ids').integer(1000, 9000) + this.#sshKeysMade,
      user_id: this.id,
      ssh_key: text,
      created_at: epochSeconds(this.#clock.now()),
    }
    this.#sshKeysMade += 1
    this.sshKeys.push(key)
    return key
  }

  /** Replaces the text of a key; undefined for an unknown id. */
  changeSshKey(id: number, text: string): AccountSshKey | undefined {
    const key = this.sshKeys.find(known => known.id === id)
    if (key) key.ssh_key = text
    return key
  }

  /** Removes a key; false for an unknown id. */
  removeSshKey(id: number): boolean {
    const index = this.sshKeys.findIndex(known => known.id === id)
    if (index >= 0) this.sshKeys.splice(index, 1)
    return index >= 0
  }

  /** Delivers a message. */
  receive(message: Omit<Message, 'at'>): void {
    this.messages.push({ ...message, at: epochSeconds(this.#clock.now()) })
  }

  /** A `tfa_secret`, as a login with user name and password in a browser would have issued it. */
  issueTfaSecret(): string {
    const issued = secret(this.#seed, 'tfa secret', this.#tfaSecrets.length)
    this.#tfaSecrets.push(issued)
    return issued
  }

  /** Whether a `tfa_secret` was issued here. */
  knowsTfaSecret(value: string): boolean {
    return this.#tfaSecrets.includes(value)
  }
}

export type AccountState = Account['state']
