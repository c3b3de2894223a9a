import * as v from 'valibot'

/** The name of Berth's own key among the others. */
export const berthKey = 'berth'

/** A key that could get in. Public halves only. */
export interface SshKey {
  /**
   * `berth`; `berth/NAME` for another in Berth's folder; `agent` or `agent/SHA256:…` for one that the SSH agent holds;
   * else the file's name in `~/.ssh`.
   */
  name: string
  from: 'berth' | 'agent' | 'user'
  type: string
  fingerprint: string
  publicKey: string
  /** What the agent calls it. */
  comment?: string
  needsPassphrase: boolean
  /** Whether Berth has its passphrase, for this session or in the keychain. */
  unlocked: boolean
}

/** The name of a key as `SshKey` has it. */
export const KeyName = v.pipe(v.string(), v.nonEmpty('which key?'), v.maxLength(256))

/** The name of a file that Berth makes for a key: safe on every system, and in `ssh -i`. */
export const NewKeyName = v.pipe(
  v.string(),
  v.trim(),
  v.regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/,
    'letters, digits, dashes and underscores, beginning with a letter or digit',
  ),
)

/** A key's passphrase. */
export const Passphrase = v.pipe(v.string(), v.nonEmpty('type the passphrase'), v.maxLength(1024))

/** A key that Berth attached to an instance. */
export interface AttachedKey {
  /** As `SshKey` has it, then. */
  name: string
  fingerprint: string
  /** Epoch seconds of this machine's time. */
  at: number
}
