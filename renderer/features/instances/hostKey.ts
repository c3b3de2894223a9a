import type { Problem } from '#contract/problem.ts'

/** A host key that the user has to confirm, with the label of the button for that. */
export interface HostKeyQuestion {
  /** `SHA256:…` */
  fingerprint: string
  accept: string
}

const accepts: Readonly<Record<string, string>> = {
  host_key_changed: 'Accept the new key',
  host_key_known_elsewhere: 'Accept this key',
}

/** The host key of a problem; undefined for problems of other kinds. */
export function hostKeyQuestion({ code, facts }: Problem): HostKeyQuestion | undefined {
  const fingerprint = facts?.['offered']
  const accept = accepts[code]
  return fingerprint && accept ? { fingerprint, accept } : undefined
}
