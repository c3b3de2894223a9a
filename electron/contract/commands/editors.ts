import * as v from 'valibot'
import { command, onInstance } from './command.ts'

export const editorCommands = {
  /**
   * Opens an editor of this machine on the instance, the chosen one unless told which. Throws `ssh_config_off` while
   * the SSH config is off, `no_editor`, `bad_address` and what getting in throws.
   */
  openEditor: command({
    ...onInstance,
    editor: v.optional(v.pipe(v.string(), v.maxLength(64))),
  }).answers<void>(),
}
