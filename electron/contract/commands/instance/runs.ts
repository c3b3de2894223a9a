import * as v from 'valibot'
import {
  PlacedRunRequest,
  RunAction,
  RunId,
  type RunMatch,
  type RunPage,
  RunPlace,
} from '../../automation/run.ts'
import { ChoiceId } from '../../instance/files.ts'
import { account, command, given } from '../command.ts'

const onRun = { account, run: RunId }

/** Commands on instances that outlive every connection. They are told in State. */
export const runCommands = {
  /** Answers its id once the intent is on disk; it goes on by itself. Throws `not_running` or `no_such_rental`. */
  startRun: command({ account, request: PlacedRunRequest }).answers<string>(),
  /** Asks its command to end; a run that has not begun never does. */
  endRun: command(onRun).answers<void>(),
  /**
   * What becomes of the instance afterwards: until it has been asked of the service. Throws `too_late`. The watchdog
   * there hears of it, too, as soon as it can be told.
   */
  changeRun: command({ ...onRun, afterwards: RunAction }).answers<void>(),
  /** Fetches again, into another folder where one was chosen, or does again what failed; what was chosen follows. */
  retryRun: command({ ...onRun, into: v.optional(ChoiceId) }).answers<void>(),
  /** Fetches no more: the instance is left as it is. */
  giveUpFetch: command(onRun).answers<void>(),
  /** Takes one that is over off the list; its output here goes, and its folder on the instance where that is reached. */
  dismissRun: command(onRun).answers<void>(),
  /** The end of its kept output from a byte on, as in a page, and what is added to it. */
  followRun: command(onRun).answers<{ stream: number; from: number }>(),
  readRun: command({ ...onRun, place: RunPlace }).answers<RunPage>(),
  /**
   * Lines of all the kept output that contain a text, whatever their case: the last 500 of them, up to a byte where one
   * is given, and how many there are up to there.
   */
  searchRun: command({
    ...onRun,
    text: given('what to look for', 256),
    before: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
  }).answers<{ matches: readonly RunMatch[]; total: number }>(),
  /** Berth's own folder for what is fetched, as people read it. */
  downloadsFolder: command({}).answers<string>(),
}
