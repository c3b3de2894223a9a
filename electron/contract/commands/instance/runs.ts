import * as v from 'valibot'
import {
  PlacedRunRequest,
  RunAction,
  RunId,
  type RunMatch,
  type RunPage,
  RunPlace,
  RunProgram,
} from '#contract/automation/run.ts'
import { ChoiceId } from '#contract/instance/files.ts'
import { account, command, given } from '../command.ts'

const onRun = { account, run: RunId }
/** What printed it: the command if absent. */
const onOutput = { ...onRun, of: v.optional(RunProgram) }

/** Runs, of commands and of projects, which outlive every connection. Their progress is in State. */
export const runCommands = {
  /** Answers its id once it is on disk, before it begins. Throws `not_running` or `no_such_rental`. */
  startRun: command({ account, request: PlacedRunRequest }).answers<string>(),
  /** Asks its command to end; a run that has not begun never begins. */
  endRun: command(onRun).answers<void>(),
  /**
   * Changes the action on the instance afterwards, also in its watchdog's order. Throws `too_late` once the service
   * was asked for the earlier action.
   */
  changeRun: command({ ...onRun, afterwards: RunAction }).answers<void>(),
  /** Downloads nothing more of a project's run, and destroys its machine. */
  cancelRun: command(onRun).answers<void>(),
  /** Starts the machine of a project's failed run, downloads its results again and stops it. */
  fetchRun: command(onRun).answers<void>(),
  /**
   * Repeats the step that failed, or downloads again, into `into` if chosen; then continues as usual. Throws
   * `no_such_instance` where its machine is gone.
   */
  retryRun: command({ ...onRun, into: v.optional(ChoiceId) }).answers<void>(),
  /** Ends the download: the instance is left as it is. */
  giveUpFetch: command(onRun).answers<void>(),
  /** Removes an ended run with its stored output, and its folder on the instance if that can be reached. */
  dismissRun: command(onRun).answers<void>(),
  /** The end of its stored output, plain as in a page, and all later output. */
  followRun: command(onOutput).answers<{ stream: number; from: number }>(),
  readRun: command({ ...onOutput, place: RunPlace }).answers<RunPage>(),
  /**
   * Lines of the stored output that contain a text, in any case, up to the byte `before` if given: the last 500, and
   * the total number.
   */
  searchRun: command({
    ...onOutput,
    text: given('what to look for', 256),
    before: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
  }).answers<{ matches: readonly RunMatch[]; total: number }>(),
  /** Berth's own folder for downloads, as people write it. */
  downloadsFolder: command({}).answers<string>(),
}
