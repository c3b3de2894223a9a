import * as v from 'valibot'
import {
  PlacedRunRequest,
  RunAction,
  RunId,
  type RunMatch,
  type RunPage,
  RunPlace,
} from '#contract/automation/run.ts'
import { ChoiceId } from '#contract/instance/files.ts'
import { account, command, given } from '../command.ts'

const onRun = { account, run: RunId }

/** Commands on instances that outlive every connection. Their progress is in State. */
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
  /** Downloads again, into `into` if chosen, or repeats the step that failed; then continues as usual. */
  retryRun: command({ ...onRun, into: v.optional(ChoiceId) }).answers<void>(),
  /** Ends the download: the instance is left as it is. */
  giveUpFetch: command(onRun).answers<void>(),
  /** Removes an ended run with its stored output, and its folder on the instance if that can be reached. */
  dismissRun: command(onRun).answers<void>(),
  /** The end of its stored output, plain as in a page, and all later output. */
  followRun: command(onRun).answers<{ stream: number; from: number }>(),
  readRun: command({ ...onRun, place: RunPlace }).answers<RunPage>(),
  /**
   * Lines of the stored output that contain a text, in any case, up to the byte `before` if given: the last 500, and
   * the total number.
   */
  searchRun: command({
    ...onRun,
    text: given('what to look for', 256),
    before: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
  }).answers<{ matches: readonly RunMatch[]; total: number }>(),
  /** Berth's own folder for downloads, as people write it. */
  downloadsFolder: command({}).answers<string>(),
}
