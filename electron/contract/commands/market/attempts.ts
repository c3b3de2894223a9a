import * as v from 'valibot'
import { AttemptLimits, AttemptSearch, AttemptSeriesId } from '#contract/automation/attempts.ts'
import { RunRequest } from '#contract/automation/run.ts'
import { OpenRequest } from '#contract/market/rental.ts'
import { account, command, ServiceId } from '../command.ts'

const onAttemptSeries = { account, attemptSeries: AttemptSeriesId }

/** Renting with failover. */
export const attemptCommands = {
  /** Answers the series' id once the request is on disk; its progress is in State. */
  rentWithFailover: command({
    account,
    search: AttemptSearch,
    /** Its bid, if any, is the highest: each attempt bids just above the lowest that runs there. */
    request: OpenRequest,
    limits: AttemptLimits,
    /** Runs on the machine that is kept. */
    run: v.optional(RunRequest),
  }).answers<string>(),
  /** Ends it at any step, and destroys its instance. */
  cancelAttempts: command(onAttemptSeries).answers<void>(),
  /** Removes an ended series from the list. */
  dismissAttempts: command(onAttemptSeries).answers<void>(),
  /** Forgets that a machine failed. */
  forgiveMachine: command({ account, machine: ServiceId }).answers<void>(),
}
