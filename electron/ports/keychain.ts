/** The operating system's keychain, service `berth`. One entry per name; the secrets are stored nowhere else. */
export interface Keychain {
  /** Whether secrets outlive a restart. False if this machine has no keychain. */
  readonly persistent: boolean
  /** Why there is no keychain, as a sentence for the user. Absent if there is one, which `set` may disprove. */
  readonly problem?: string
  /** Calls `tell` whenever the keychain works again after a failure. Absent if it never can. */
  onBack?(tell: () => void): void
  get(name: string): Promise<string | undefined>
  set(name: string, secret: string): Promise<void>
  delete(name: string): Promise<void>
}
