/** A key that could get in. Public halves only. */
export interface SshKey {
  /** `berth`, or the file's name in `~/.ssh`. */
  name: string
  type: string
  fingerprint: string
  publicKey: string
  needsPassphrase: boolean
}
