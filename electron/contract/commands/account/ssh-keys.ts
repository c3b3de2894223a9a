import * as v from 'valibot'
import { type AttachedKey, KeyName, NewKeyName, Passphrase, type SshKey } from '#contract/instance/ssh-key.ts'
import { account, command } from '../command.ts'

/** SSH keys. Private halves and passphrases come in here and never go out. */
export const sshKeyCommands = {
  /** Berth's keys for the shown account, the SSH agent's, and those in `~/.ssh`. Public halves only. */
  sshKeys: command({}).answers<readonly SshKey[]>(),
  /** Unlocks a key for this session; `keep` stores the passphrase in the keychain. Throws `wrong_passphrase`. */
  unlockKey: command({ key: KeyName, passphrase: Passphrase, keep: v.boolean() }).answers<void>(),
  /** Forgets its passphrase. */
  lockKey: command({ key: KeyName }).answers<void>(),
  /**
   * Adds a private key to Berth's: a text, or the `file` from `chooseKeyFile`. Answers its name. Throws `not_a_key`,
   * `key_exists`, `key_locked` if a passphrase is needed to read it, and `wrong_passphrase`.
   */
  importKey: command({
    name: NewKeyName,
    from: v.union([
      v.strictObject({ text: v.pipe(v.string(), v.nonEmpty('paste the private key'), v.maxLength(65_536)) }),
      v.strictObject({ file: v.pipe(v.number(), v.safeInteger(), v.minValue(1)) }),
    ]),
    passphrase: v.optional(Passphrase),
  }).answers<string>(),
  /** Lets the user choose a file in a dialog of the main process; `file` is its id. Empty if none was chosen. */
  chooseKeyFile: command({}).answers<{ file?: number; name?: string }>(),
  /** Makes another key, and answers its name. Throws `key_exists`. */
  generateKey: command({ name: NewKeyName }).answers<string>(),
  /** Deletes an imported or made key; if it was chosen, Berth's own is chosen instead. Throws `key_not_removable`. */
  removeKey: command({ key: KeyName }).answers<void>(),
  /** The keys that Berth attached, by the instance's id. */
  attachedKeys: command({ account }).answers<Readonly<Record<number, readonly AttachedKey[]>>>(),
}
