import * as v from 'valibot'
import { AttemptLimits, AttemptSearch, AttemptSeriesId } from '../../automation/attempts.ts'
import { RunRequest } from '../../automation/run.ts'
import { OpenRequest } from '../../market/rental.ts'
import { account, command, ServiceId } from '../command.ts'

const onAttemptSeries = { account, attemptSeries: AttemptSeriesId }

/** Renting with failover, and what becomes of it. */
export const attemptCommands = {
  /** Answers with the id of the series once the request is on disk; it goes on by itself and is told in State. */
  rentWithFailover: command({
    account,
    search: AttemptSearch,
    /** With a bid, that is the highest: each attempt bids just above the lowest that runs there. */
    request: OpenRequest,
    limits: AttemptLimits,
    /** What is run on the machine that is kept. */
    run: v.optional(RunRequest),
  }).answers<string>(),
  /** Ends it at whatever step; what it has created is destroyed. */
  cancelAttempts: command(onAttemptSeries).answers<void>(),
  /** Takes one that has ended off the list. */
  dismissAttempts: command(onAttemptSeries).answers<void>(),
  /** Forgets that a machine failed. */
  forgiveMachine: command({ account, machine: ServiceId }).answers<void>(),
}
