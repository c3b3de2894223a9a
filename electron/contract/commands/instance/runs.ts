import { RunAction, RunId, type RunMatch, RunRequest } from '../../automation/run.ts'
import { account, command, given } from '../command.ts'

const onRun = { account, run: RunId }

/** Commands on instances that outlive every connection. They are told in State. */
export const runCommands = {
  /** Answers its id once the intent is on disk; it goes on by itself. Throws `not_running` or `no_such_rental`. */
  startRun: command({ account, request: RunRequest }).answers<string>(),
  /** Asks its command to end; a run that has not begun never does. */
  endRun: command(onRun).answers<void>(),
  /** What becomes of the instance when it ends: until it has ended. */
  changeRun: command({ ...onRun, atEnd: RunAction }).answers<void>(),
  /** Fetches again, or does again what failed; what was chosen follows. */
  retryRun: command(onRun).answers<void>(),
  /** Takes one that is over off the list; its output here goes, and its folder on the instance where that is reached. */
  dismissRun: command(onRun).answers<void>(),
  /** Its kept output as plain text, and what is added to it. */
  followRun: command(onRun).answers<{ stream: number }>(),
  /** Lines of the kept output that contain a text, whatever their case; at most 500. */
  searchRun: command({ ...onRun, text: given('what to look for', 256) }).answers<{
    matches: readonly RunMatch[]
    more: boolean
  }>(),
  /** Berth's own folder for what is fetched, as people read it. */
  downloadsFolder: command({}).answers<string>(),
}
