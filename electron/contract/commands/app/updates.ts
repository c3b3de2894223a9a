import * as v from 'valibot'
import { command } from '../command.ts'

/** What keeps Berth itself in order. */
export const updateCommands = {
  /** A text to send to whoever looks after Berth: versions, settings, recent errors; no secrets. */
  diagnostics: command({}).answers<string>(),
  /** A part of the page could not be drawn. */
  reportPageError: command({
    screen: v.pipe(v.string(), v.maxLength(64)),
    error: v.pipe(v.string(), v.maxLength(2_000)),
  }).answers<void>(),
  /**
   * Takes back what Berth wrote outside of its own folder: its start at login, what brings its links, the command
   * `berth`, and its line in the user's SSH config. For whoever is about to uninstall it.
   */
  leaveDesktop: command({}).answers<void>(),
  /** These reject with `no_updates` where no update address is set. */
  checkForUpdate: command({}).answers<void>(),
  fetchUpdate: command({}).answers<void>(),
  /** Ends Berth, asking as always, and starts the new version. */
  installUpdate: command({}).answers<void>(),
}
