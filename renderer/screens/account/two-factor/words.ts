import type { TwoFactorMethod, TwoFactorStatus } from '#shared/account/two-factor.ts'
import { countdown } from '#shared/format/time.ts'

/** The name of a kind of method. */
export function methodKindWords(kind: string): string {
  if (kind === 'totp') return 'Authenticator app'
  return kind === 'sms' ? 'Text message' : kind
}

/** A method's name: its label, else its kind; a phone with its last digits. */
export function methodWords({
  kind,
  label,
  phone,
}: Pick<TwoFactorMethod, 'kind' | 'label' | 'phone'>): string {
  const what = label ? `${label} (${methodKindWords(kind).toLowerCase()})` : methodKindWords(kind)
  return phone ? `${what} to ${phone}` : what
}

/** How long a method may be added; `left` in seconds, undefined where Berth did not see the authorization. */
export function timeToAdd(left: number | undefined): string {
  return left === undefined
    ? 'You can add a method within 30 minutes of the authorization.'
    : `You have ${countdown(left)} left to add a method.`
}

/** One way to prove identity. */
export interface MethodChoice {
  id: string
  way: 'totp' | 'sms' | 'email' | 'backup'
  /** The method's id; undefined for email and backup codes, and where it is not known. */
  method?: number
  label: string
  /** Epoch seconds of the account's time. */
  lockedUntil?: number
}

const email: MethodChoice = { id: 'email', way: 'email', label: 'Code by email' }
const backup: MethodChoice = { id: 'backup', way: 'backup', label: 'Backup code' }

/**
 * The ways that an account has; all ways where its methods are unknown (a key that must log in first). An account in
 * the old form has a phone number that is not a method yet.
 */
export function choices(status: TwoFactorStatus | undefined): readonly MethodChoice[] {
  if (!status)
    return [
      { id: 'totp', way: 'totp', label: 'Authenticator app' },
      { id: 'sms', way: 'sms', label: 'Text message' },
      email,
      backup,
    ]
  const methods = status.methods.flatMap((method): MethodChoice[] =>
    method.kind === 'totp' || method.kind === 'sms'
      ? [
          {
            id: String(method.id),
            way: method.kind,
            method: method.id,
            label: methodWords(method),
            lockedUntil: method.lockedUntil,
          },
        ]
      : [],
  )
  const primary = status.methods.find(method => method.primary)?.id
  methods.sort((a, b) => Number(b.method === primary) - Number(a.method === primary))
  const old: MethodChoice[] =
    status.enabled && methods.length === 0
      ? [{ id: 'sms', way: 'sms', label: 'Text message to the number on file' }]
      : []
  return [...methods, ...old, email, ...(status.backupCodesRemaining > 0 ? [backup] : [])]
}
