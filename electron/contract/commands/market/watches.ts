import * as v from 'valibot'
import { RunRequest } from '#contract/automation/run.ts'
import { type PriceSample, WatchId, WatchRequest } from '#contract/automation/watch.ts'
import { account, command } from '../command.ts'

const onWatch = { account, watch: WatchId }

/** Repeated searches. */
export const watchCommands = {
  /**
   * Creates a watch or changes `watch`, and searches at once; answers its id. `run` is for each machine that it rents;
   * if it has no folder for downloads, the earlier one stays.
   */
  saveWatch: command({
    account,
    watch: v.optional(WatchId),
    request: WatchRequest,
    run: v.optional(RunRequest),
  }).answers<string>(),
  pauseWatch: command({ ...onWatch, paused: v.boolean() }).answers<void>(),
  /** Its instances stay. */
  deleteWatch: command(onWatch).answers<void>(),
  /** Searches the market now; answers after that. */
  searchWatch: command(onWatch).answers<void>(),
  /** The prices of its offers, hourly samples of the last 90 days, oldest first. */
  watchPrices: command(onWatch).answers<readonly PriceSample[]>(),
}
