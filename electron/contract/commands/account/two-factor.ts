import * as v from 'valibot'
import {
  BackupCode,
  ChallengeSecret,
  type LoginAnswer,
  MethodLabel,
  NewMethod,
  Proof,
  SixDigits,
  SmsRequest,
  type TwoFactorMethod,
  type TwoFactorStatus,
} from '#contract/account/two-factor.ts'
import { account, command, ServiceId } from '../command.ts'

/** Two-factor authentication (section 4.7). Secrets and codes in answers are shown once and not stored. */
export const twoFactorCommands = {
  twoFactorStatus: command({ account }).answers<TwoFactorStatus>(),
  /** Logs in with an API key that requires it; the session key goes into the keychain and is used from then on. */
  twoFactorLogin: command({ account, proof: Proof, admin: v.boolean() }).answers<LoginAnswer>(),
  /** With the secret of an earlier code, sends a new one for the same purpose. */
  sendEmailCode: command({ account, secret: v.optional(ChallengeSecret) }).answers<{ secret: string }>(),
  sendSmsCode: command({ account, request: SmsRequest }).answers<{ secret: string }>(),
  resendSmsCode: command({ account, request: SmsRequest }).answers<{ secret: string }>(),
  /** An authenticator's secret (base32), and the otpauth address for the QR code. */
  setUpTotp: command({ account }).answers<{ secret: string; uri: string }>(),
  /** Requests to add a method. By a code: answers `secret`, for `confirmNewMethods`. By a backup code: `granted`. */
  authorizeNewMethod: command({
    account,
    by: v.variant('with', [
      v.object({ with: v.picklist(['sms', 'totp', 'email']), method: v.optional(ServiceId) }),
      v.object({ with: v.literal('backup'), backupCode: BackupCode }),
    ]),
  }).answers<{ secret?: string; granted: boolean }>(),
  confirmNewMethods: command({ account, code: SixDigits, secret: ChallengeSecret }).answers<void>(),
  /** The first method's answer has the backup codes, only once. */
  addMethod: command({ account, method: NewMethod }).answers<{ backupCodes?: readonly string[] }>(),
  updateMethod: command({
    account,
    method: ServiceId,
    label: v.optional(MethodLabel),
    primary: v.optional(v.boolean()),
  }).answers<TwoFactorMethod>(),
  removeMethod: command({ account, proof: Proof, method: v.optional(ServiceId) }).answers<{
    remaining: number
  }>(),
  regenerateBackupCodes: command({ account, proof: Proof }).answers<readonly string[]>(),
}
