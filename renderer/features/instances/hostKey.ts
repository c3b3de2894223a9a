import type { Problem } from '../../../electron/contract/problem.ts'

/** A host key that waits for the user's word, and what the button that accepts it says. */
export interface HostKeyQuestion {
  /** `SHA256:…` */
  fingerprint: string
  accept: string
}

const accepts: Readonly<Record<string, string>> = {
  host_key_changed: 'Accept the new key',
  host_key_known_elsewhere: 'Accept this key',
}

/** Undefined for a problem of another kind. */
export function hostKeyQuestion({ code, facts }: Problem): HostKeyQuestion | undefined {
  const fingerprint = facts?.['offered']
  const accept = accepts[code]
  return fingerprint && accept ? { fingerprint, accept } : undefined
}
