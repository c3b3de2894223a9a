import { dialog } from './dialogs.ts'

/**
 * init.ts, "Don't quit on fatal error": an uncaught error is shown in a box and the process goes on, unless the app
 * listens for it. electron_browser_main_parts.cc, `unhandled_rejections`: an unhandled rejection is a warning.
 */
export function surviveErrors(): void {
  process.on('uncaughtException', error => {
    if (process.listenerCount('uncaughtException') > 1) return
    const message = `Uncaught Exception:\n${error.stack ?? `${error.name}: ${error.message}`}`
    dialog.showErrorBox('A JavaScript error occurred in the main process', message)
  })
  process.on('unhandledRejection', reason => {
    if (process.listenerCount('unhandledRejection') > 1) return
    process.stderr.write(`UnhandledPromiseRejectionWarning: ${String(reason)}\n`)
  })
}
