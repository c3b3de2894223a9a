import type { TwoFactorMethod } from '#contract/account/two-factor.ts'
import type { Shape } from '#renderer/berth/stateWords.ts'

/** The user's `tfa_status` (section 3.2) as a word and a shape; undefined where it is not known. */
export function twoFactorWords(status: string | undefined): { word: string; shape: Shape } | undefined {
  switch (status) {
    case undefined:
    case '':
      return undefined
    case 'enabled':
      return { word: 'On', shape: 'running' }
    case 'disabled':
      return { word: 'Off', shape: 'stopped' }
    case 'legacy':
      return { word: 'On, in its old form', shape: 'needs-you' }
    default:
      return { word: status, shape: 'stopped' }
  }
}

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
