import { app, dialog } from 'electron'
import type { Endings } from '../../local/start/endings.ts'
import { startFailure, tellTerminal } from '../../local/start/failure.ts'

/** Says why Berth cannot start, and ends it: in a box, too, since who starts it by a click reads no terminal. */
export async function failVisibly(error: unknown, endings: Endings): Promise<void> {
  const failure = startFailure(error)
  tellTerminal(failure)
  // First, since the box waits for its user, and Berth's folder must not.
  await endings.end()
  if (failure.code !== 2) {
    // Before Electron is ready, Linux would have the terminal alone told.
    await app.whenReady()
    dialog.showErrorBox('Berth cannot start', failure.words)
  }
  app.exit(failure.code)
}
