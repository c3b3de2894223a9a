import * as v from 'valibot'
import { RunRequest } from '../../automation/run.ts'
import { type PriceSample, WatchId, WatchRequest } from '../../automation/watch.ts'
import { account, command } from '../command.ts'

const onWatch = { account, watch: WatchId }

/** Searches that are made again and again. */
export const watchCommands = {
  /**
   * Begins one, or with `watch` changes one; answers its id. It searches the market at once. `run`: what is run on each
   * machine that it rents; where no folder is chosen for what is fetched, it stays the one there was.
   */
  saveWatch: command({
    account,
    watch: v.optional(WatchId),
    request: WatchRequest,
    run: v.optional(RunRequest),
  }).answers<string>(),
  pauseWatch: command({ ...onWatch, paused: v.boolean() }).answers<void>(),
  /** What it has rented stays. */
  deleteWatch: command(onWatch).answers<void>(),
  /** Searches the market now; resolves when that has ended. */
  searchWatch: command(onWatch).answers<void>(),
  /** What its offers cost at each search, an hour apart and oldest first; kept for 90 days. */
  watchPrices: command(onWatch).answers<readonly PriceSample[]>(),
}
