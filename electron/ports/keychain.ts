/** The operating system's keychain, service `berth`. One entry per name; values are secrets and go nowhere else. */
export interface Keychain {
  /** Whether what is set here is still there after a restart. False when this machine offers no keychain. */
  readonly persistent: boolean
  /** Why there is no keychain, in a sentence for the user; absent while there is one. Setting may show that there is none. */
  readonly problem?: string
  /** Tells whenever it answers again, having failed to. Absent where it never comes back. */
  onBack?(tell: () => void): void
  get(name: string): Promise<string | undefined>
  set(name: string, secret: string): Promise<void>
  delete(name: string): Promise<void>
}
