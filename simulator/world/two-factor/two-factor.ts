import type { Account } from '../account/account.ts'
import type { Outbox } from '../account/outbox.ts'
import type { WorldClock } from '../clock.ts'
import { AddWindow } from './add-window.ts'
import { Authenticators } from './authenticator.ts'
import { BackupCodes } from './backup-codes.ts'
import { Challenges } from './challenges.ts'
import { Emails } from './emails.ts'
import { type Method, methodRecord } from './method.ts'
import { Methods } from './methods.ts'
import { Sessions } from './sessions.ts'
import { TextMessages } from './text-messages.ts'
import { Verification } from './verification.ts'

interface TwoFactorContext {
  seed: number
  account: Account
  clock: WorldClock
  outbox: Outbox
}

/** The account's two-factor authentication (sections 2.6, 3.2 and 4.7): its parts, and operations over several. */
export class TwoFactor {
  readonly account: Account
  readonly clock: WorldClock
  readonly methods: Methods
  readonly codes: BackupCodes
  readonly challenges: Challenges
  readonly texts: TextMessages
  readonly emails: Emails
  readonly authenticators: Authenticators
  readonly window: AddWindow
  readonly sessions: Sessions
  readonly verification: Verification

  constructor({ seed, account, clock, outbox }: TwoFactorContext) {
    this.account = account
    this.clock = clock
    this.methods = new Methods(seed, account, clock)
    this.codes = new BackupCodes(seed)
    this.challenges = new Challenges(seed, account.state, clock)
    this.texts = new TextMessages(account.state, clock, outbox, this.challenges)
    this.emails = new Emails(account.state, outbox, this.challenges)
    this.authenticators = new Authenticators(seed)
    this.window = new AddWindow(account.state, clock)
    this.sessions = new Sessions(seed, account)
    const { methods, codes, challenges } = this
    this.verification = new Verification({ account, clock, methods, codes, challenges })
  }

  /** `tfa_status` of the user object, section 3.2. */
  tfaStatus(): 'enabled' | 'disabled' | 'legacy' {
    if (this.account.state.legacy) return 'legacy'
    return this.methods.list().length > 0 ? 'enabled' : 'disabled'
  }

  /** Also true for `legacy`. */
  enabled(): boolean {
    return this.tfaStatus() !== 'disabled'
  }

  /** How many backup codes are left; legacy accounts have none. */
  backupCodesLeft(): number {
    return this.account.state.legacy ? 0 : this.codes.remaining
  }

  /** Removes a method, and the backup codes with the last one. Gives how many methods are left. */
  remove(method: Method): number {
    this.methods.remove(method)
    const left = this.methods.list().length
    if (left === 0) this.codes.clear()
    return left
  }

  /** Switches a legacy account's two-factor authentication off; earlier methods and codes are deleted too. */
  endLegacy(): void {
    this.methods.clear()
    this.codes.clear()
    this.account.state.legacy = false
  }

  record(method: Method): Record<string, unknown> {
    return methodRecord(method, this.account.id, this.clock.now())
  }
}
