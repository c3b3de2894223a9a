import * as v from 'valibot'
import { type AttachedKey, KeyName, NewKeyName, Passphrase, type SshKey } from '../../instance/ssh-key.ts'
import { account, command } from '../command.ts'

/** The keys that get in. Private halves and passphrases come in here and never go out. */
export const sshKeyCommands = {
  /** Berth's own for the account that is shown, its others, the SSH agent's, and those in `~/.ssh`. Public halves only. */
  sshKeys: command({}).answers<readonly SshKey[]>(),
  /** Opens a key for this session; with `keep`, for later ones too, in the keychain. Fails with `wrong_passphrase`. */
  unlockKey: command({ key: KeyName, passphrase: Passphrase, keep: v.boolean() }).answers<void>(),
  /** Forgets its passphrase. */
  lockKey: command({ key: KeyName }).answers<void>(),
  /**
   * Takes a private key among Berth's: a text, or the file that `chooseKeyFile` gave. Gives its name. Fails with
   * `not_a_key`, `key_exists`, `key_locked` where its passphrase is needed to read it, and `wrong_passphrase`.
   */
  importKey: command({
    name: NewKeyName,
    from: v.union([
      v.strictObject({ text: v.pipe(v.string(), v.nonEmpty('paste the private key'), v.maxLength(65_536)) }),
      v.strictObject({ file: v.pipe(v.number(), v.safeInteger(), v.minValue(1)) }),
    ]),
    passphrase: v.optional(Passphrase),
  }).answers<string>(),
  /** Asks the user for a file, in a dialog of the main process; `file` stands for it. Nothing when none was chosen. */
  chooseKeyFile: command({}).answers<{ file?: number; name?: string }>(),
  /** Makes another key, and gives its name. Fails with `key_exists`. */
  generateKey: command({ name: NewKeyName }).answers<string>(),
  /** Deletes an imported or made one; Berth's own is chosen where this was. Fails with `key_not_removable`. */
  removeKey: command({ key: KeyName }).answers<void>(),
  /** What Berth attached where, by the instance's id. */
  attachedKeys: command({ account }).answers<Readonly<Record<number, readonly AttachedKey[]>>>(),
}
