import * as v from 'valibot'
import { command, onInstance } from '../command.ts'

export const editorCommands = {
  /**
   * Opens an editor of this machine on the instance, the chosen one unless told which. Throws `ssh_config_off` while
   * the SSH config is off, `ssh_config_line_gone`, `no_editor`, `bad_address` and what getting in throws.
   */
  openEditor: command({
    ...onInstance,
    editor: v.optional(v.pipe(v.string(), v.maxLength(64))),
  }).answers<void>(),
  /** Whether the user's SSH config includes Berth's part as it should: false where the line was taken out by hand. */
  sshConfigIncluded: command({}).answers<boolean>(),
  /** Puts that line in again. Throws `ssh_config_off`, `ssh_config_path` or `ssh_config_not_written`. */
  includeSshConfig: command({}).answers<void>(),
}
