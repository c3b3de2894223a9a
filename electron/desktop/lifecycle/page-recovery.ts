import { app, type BrowserWindow, dialog } from 'electron'
import type { RunningBerth } from '#core/running.ts'
import type { Clock } from '#platform/platform.ts'

/** The page is reloaded this often within so many milliseconds; after that the user is asked. */
const most = 3
const within = 600_000

/** Milliseconds without an answer, after Electron has reported the page as unresponsive. */
const patience = 5_000

/** Reloads a window's page after it crashed or hung, and notes that in Activity. */
export function recoverPage(window: BrowserWindow, running: Promise<RunningBerth>, clock: Clock): void {
  const { webContents } = window
  let crashes: number[] = []
  let giveUp: (() => void) | undefined
  let tryAgain: (() => void) | undefined
  let hung = false

  const stopWaiting = () => {
    giveUp?.()
    giveUp = undefined
  }
  const stopTrying = () => tryAgain?.()

  /** A reload right after a crash may start no process (electron/electron#48661), so it is repeated until one does. */
  function bringBack(): void {
    webContents.reload()
    tryAgain = clock.after(patience, () => webContents.isCrashed() && bringBack())
  }

  webContents.on('render-process-gone', (_event, { reason, exitCode }) => {
    stopWaiting()
    stopTrying()
    if (reason === 'clean-exit' || window.isDestroyed()) return
    const now = clock.monotonic()
    crashes = [...crashes.filter(at => now - at < within), now]
    const detail = hung ? `no answer for ${patience / 1000} s` : `${reason}, ${exitCode}`
    const what = hung ? 'hung' : 'crashed'
    hung = false
    const note = (words: string) => void running.then(berth => berth.notePageFailure(words, detail))
    if (crashes.length <= most) {
      note(`The page ${what} and was restored`)
      bringBack()
    } else {
      note('The page keeps crashing')
      void askWhetherAgain(window).then(again => {
        crashes = []
        if (again && !window.isDestroyed()) bringBack()
        else app.quit()
      })
    }
  })

  window.on('unresponsive', () => {
    giveUp ??= clock.after(patience, () => {
      giveUp = undefined
      hung = true
      webContents.forcefullyCrashRenderer()
    })
  })
  window.on('responsive', stopWaiting)
  window.once('closed', stopWaiting)
  window.once('closed', stopTrying)
}

async function askWhetherAgain(window: BrowserWindow): Promise<boolean> {
  const { response } = await dialog.showMessageBox(window, {
    type: 'error',
    title: 'Berth',
    message: 'Berth’s page keeps crashing.',
    detail: 'Your instances and limits aren’t affected. See Activity and the log.',
    buttons: ['Try again', 'Quit Berth'],
    defaultId: 0,
    cancelId: 0,
    noLink: true,
  })
  return response === 0
}
