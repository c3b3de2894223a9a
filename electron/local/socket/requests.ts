import { isAbsolute } from 'node:path'
import * as v from 'valibot'
import { command, onInstance } from '../../contract/commands/command.ts'

/**
 * What the command may ask beside the page's commands. Whoever reaches the socket is the user, who may name a path and
 * end Berth: a page may do neither.
 */
export const localRequests = {
  /** The system's ssh and its arguments, to get into an instance; its key is attached first. */
  sshArguments: command(onInstance).answers<readonly string[]>(),
  /** Makes a folder a project, by its absolute path; answers its id. Throws `no_such_folder`. */
  registerProject: command({
    folder: v.pipe(
      v.string(),
      v.maxLength(4096, 'at most 4096 characters'),
      v.check(path => isAbsolute(path) && !path.includes('\0'), 'give an absolute path'),
    ),
  }).answers<string>(),
  /** Brings Berth's window, or opens its page in the browser. */
  openPage: command({}).answers<void>(),
  /** Ends Berth, without a question. */
  quit: command({}).answers<void>(),
}
