import { app, dialog } from 'electron'
import { printFailure, runFailure, type StartFailure, startFailure } from '../../local/start/failure.ts'
import type { Shutdown } from '../../local/start/shutdown.ts'

/** Says why Berth cannot start, and ends it. */
export function failVisibly(error: unknown, shutdown: Shutdown): Promise<void> {
  return showAndExit('Berth cannot start', startFailure(error), shutdown)
}

/**
 * Ends Berth in order when nobody caught an error: Electron itself would show it in a box and go on, in a state that
 * nobody knows, and would only warn of a rejection.
 */
export function endOnErrors(shutdown: Shutdown): void {
  let failed = false
  process.on('uncaughtException', error => {
    if (failed) return
    failed = true
    void showAndExit('Berth had to close', runFailure(error), shutdown)
  })
  process.on('unhandledRejection', reason => {
    throw reason
  })
}

/** In a box, too, since who starts it by a click reads no terminal. */
async function showAndExit(title: string, failure: StartFailure, shutdown: Shutdown): Promise<void> {
  printFailure(failure)
  // First, since the box waits for its user, and Berth's folder must not.
  await shutdown.end()
  if (failure.code !== 2) {
    // Before Electron is ready, Linux would have the terminal alone told.
    await app.whenReady()
    dialog.showErrorBox(title, failure.words)
  }
  await shutdown.exit(() => app.exit(failure.code))
}
