import * as v from 'valibot'
import { command } from '../command.ts'

/** Diagnostics and updates. */
export const updateCommands = {
  /** A text for Berth's maintainers: versions, settings, recent errors; no secrets. */
  diagnostics: command({}).answers<string>(),
  /** An error while the page was drawn. */
  reportPageError: command({
    screen: v.pipe(v.string(), v.maxLength(64)),
    error: v.pipe(v.string(), v.maxLength(2_000)),
  }).answers<void>(),
  /** The update commands throw `no_updates` if no update address is set. */
  checkForUpdate: command({}).answers<void>(),
  fetchUpdate: command({}).answers<void>(),
  /** Ends Berth, after the usual questions, and starts the new version. */
  installUpdate: command({}).answers<void>(),
}
