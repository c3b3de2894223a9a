import { isAbsolute } from 'node:path'
import * as v from 'valibot'
import { command, onInstance } from '../contract/commands/command.ts'

/**
 * The requests that the command has besides the page's commands. Only the user can reach the socket, so these may name
 * a path and end Berth, which a page may not.
 */
export const localRequests = {
  /** Proves that this Berth wrote the address at which it is asked. */
  prove: command({ nonce: v.pipe(v.string(), v.maxLength(256)) }).answers<string>(),
  /** The system's ssh and its arguments to connect to an instance; attaches the key first. */
  sshArguments: command(onInstance).answers<readonly string[]>(),
  /** Makes a folder a project, by its absolute path; answers its id. Throws `no_such_folder`. */
  registerProject: command({
    folder: v.pipe(
      v.string(),
      v.maxLength(4096, 'at most 4096 characters'),
      v.check(path => isAbsolute(path) && !path.includes('\0'), 'enter an absolute path'),
    ),
  }).answers<string>(),
  /** Shows Berth's window, or opens its page in the browser. */
  openPage: command({}).answers<void>(),
  /** Ends Berth without asking. */
  quit: command({}).answers<void>(),
}
