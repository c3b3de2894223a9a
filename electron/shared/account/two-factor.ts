import * as v from 'valibot'
import { ServiceId, text } from '../fields.ts'

/** Many apps show it with a space in the middle. */
export const SixDigits = v.pipe(
  v.string(),
  v.transform(code => code.replace(/\s/g, '')),
  v.regex(/^\d{6}$/, 'a code has six digits'),
)
export const BackupCode = v.pipe(
  v.string(),
  v.trim(),
  v.toUpperCase(),
  v.regex(/^[A-Z0-9]{4}-[A-Z0-9]{4}-[A-Z0-9]{4}$/, 'a backup code has the form XXXX-XXXX-XXXX'),
)
/** E.164. */
export const PhoneNumber = v.pipe(
  v.string(),
  v.trim(),
  v.transform(number => number.replace(/[\s().-]/g, '')),
  v.regex(/^\+[1-9]\d{6,14}$/, 'write the number with + and the country, such as +15551234567'),
)
export const MethodLabel = v.pipe(v.string(), v.trim(), v.maxLength(30, 'a label has at most 30 characters'))
/** The secret from the answer that sent a code; it goes back with the code. */
export const ChallengeSecret = v.pipe(v.string(), v.nonEmpty(), v.maxLength(4096))

/** The user's second factor. */
export const Proof = v.variant('with', [
  v.object({ with: v.literal('totp'), code: SixDigits, method: v.optional(ServiceId) }),
  v.object({
    with: v.literal('sms'),
    code: SixDigits,
    secret: ChallengeSecret,
    method: v.optional(ServiceId),
  }),
  v.object({ with: v.literal('email'), code: SixDigits, secret: ChallengeSecret }),
  v.object({ with: v.literal('backup'), backupCode: BackupCode }),
])
export type Proof = v.InferOutput<typeof Proof>

export const NewMethod = v.variant('kind', [
  v.object({
    kind: v.literal('totp'),
    code: SixDigits,
    secret: ChallengeSecret,
    label: v.optional(MethodLabel),
  }),
  v.object({
    kind: v.literal('sms'),
    code: SixDigits,
    secret: ChallengeSecret,
    phone: PhoneNumber,
    label: v.optional(MethodLabel),
  }),
])
export type NewMethod = v.InferOutput<typeof NewMethod>

export const SmsRequest = v.object({
  phone: v.optional(PhoneNumber),
  method: v.optional(ServiceId),
  secret: v.optional(text(4096)),
})

/** Section 2.6. Times in epoch seconds of the account's time. */
export interface TwoFactorMethod {
  id: number
  kind: string
  label?: string
  /** Masked. */
  phone?: string
  primary: boolean
  failCount: number
  lockedUntil?: number
  createdAt?: number
  lastUsed?: number
}

export interface TwoFactorStatus {
  enabled: boolean
  /** `enabled`, `disabled` or `legacy` (section 3.2). */
  status?: string
  methods: readonly TwoFactorMethod[]
  backupCodesRemaining: number
  /** Whether a method may be added now: a window of 30 minutes after an authorization. */
  mayAdd: boolean
  /** The end of the window, if Berth saw its beginning; epoch seconds of the account's time. */
  mayAddUntil?: number
}

export interface LoginAnswer {
  /** Whether the service sent a session key, which is now in the keychain and in use. */
  session: boolean
  backupCodesRemaining?: number
  legacy: boolean
}
