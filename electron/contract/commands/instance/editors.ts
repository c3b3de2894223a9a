import * as v from 'valibot'
import { command, onInstance } from '../command.ts'

export const editorCommands = {
  /**
   * Opens an editor of this machine on the instance, by default the one in the settings. Throws `ssh_config_off` while
   * the SSH config is off, `ssh_config_line_gone`, `no_editor`, `bad_address` and the errors of connecting.
   */
  openEditor: command({
    ...onInstance,
    editor: v.optional(v.pipe(v.string(), v.maxLength(64))),
  }).answers<void>(),
  /** Whether the user's SSH config includes Berth's file: false if the user has removed the line. */
  sshConfigIncluded: command({}).answers<boolean>(),
  /** Adds that line again. Throws `ssh_config_off`, `ssh_config_path` or `ssh_config_not_written`. */
  includeSshConfig: command({}).answers<void>(),
}
