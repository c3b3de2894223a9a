import * as v from 'valibot'

/** The name of Berth's own key. */
export const berthKey = 'berth'

/** An SSH key that the user can choose. Public half only. */
export interface SshKey {
  /**
   * `berth`; `berth/NAME` for another one in Berth's folder; `agent` or `agent/SHA256:…` for one in the SSH agent;
   * else the file's name in `~/.ssh`.
   */
  name: string
  from: 'berth' | 'agent' | 'user'
  type: string
  fingerprint: string
  publicKey: string
  /** Its comment in the agent. */
  comment?: string
  needsPassphrase: boolean
  /** Whether Berth has its passphrase, for this session or in the keychain. */
  unlocked: boolean
}

/** The `name` of an `SshKey`. */
export const KeyName = v.pipe(v.string(), v.nonEmpty('which key?'), v.maxLength(256))

/** The name of a new key's file: safe on every system, and in `ssh -i`. */
export const NewKeyName = v.pipe(
  v.string(),
  v.trim(),
  v.regex(
    /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/,
    'letters, digits, dashes and underscores, beginning with a letter or digit',
  ),
)

export const Passphrase = v.pipe(v.string(), v.nonEmpty('type the passphrase'), v.maxLength(1024))

/** A key that Berth attached to an instance. */
export interface AttachedKey {
  /** The name of the `SshKey` at that time. */
  name: string
  fingerprint: string
  /** Epoch seconds of this machine's time. */
  at: number
}

/** A host key that several instances have, and what that means. */
export const sharedHostKeyWords =
  'Its host key is built into the image, so other machines have it, too. Whoever has the image can pass for the instance.'
