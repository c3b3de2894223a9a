import { app, dialog } from 'electron'
import { type BerthStartFailure, berthStartFailure, printFailure, runFailure } from '#start/flags.ts'
import type { Shutdown } from '#start/shutdown.ts'

/** Shows why Berth cannot start, and ends it. */
export function failVisibly(error: unknown, shutdown: Shutdown): Promise<void> {
  return showAndExit('Berth cannot start', berthStartFailure(error), shutdown)
}

/**
 * Ends Berth in order on an uncaught error: Electron would show it in a box and continue in an unknown state, and would
 * only warn of an unhandled rejection.
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

/** Also shows a box, since a user who started Berth by a click sees no terminal. */
async function showAndExit(title: string, failure: BerthStartFailure, shutdown: Shutdown): Promise<void> {
  printFailure(failure)
  // First, since the box waits for the user while Berth's folder would stay locked.
  await shutdown.end()
  if (failure.code !== 2) {
    // Before Electron is ready, Linux prints the message on the terminal only.
    await app.whenReady()
    dialog.showErrorBox(title, failure.words)
  }
  await shutdown.exit(() => app.exit(failure.code))
}
