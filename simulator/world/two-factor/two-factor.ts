import type { Account } from '../account.ts'
import type { WorldClock } from '../clock.ts'
import { Challenges } from './challenges.ts'
import { Authenticators, BackupCodes } from './codes.ts'
import { Messages } from './messages.ts'
import { type Method, Methods, methodRecord } from './methods.ts'
import { Sessions } from './sessions.ts'
import { Verification } from './verification.ts'

/** The account's two-factor authentication (sections 2.6, 3.2 and 4.7): its parts, and operations over several. */
export class TwoFactor {
  readonly account: Account
  readonly clock: WorldClock
  readonly methods: Methods
  readonly codes: BackupCodes
  readonly challenges: Challenges
  readonly messages: Messages
  readonly authenticators: Authenticators
  readonly sessions: Sessions
  readonly verification: Verification

  constructor(seed: number, account: Account, clock: WorldClock) {
    this.account = account
    this.clock = clock
    this.methods = new Methods(seed, account, clock)
    this.codes = new BackupCodes(seed)
    this.challenges = new Challenges(seed, account.state, clock)
    this.messages = new Messages(account, clock, this.challenges)
    this.authenticators = new Authenticators(seed)
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
