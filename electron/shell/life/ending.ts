import { app, powerMonitor } from 'electron'
import type { Endings } from '../../local/start/endings.ts'

/** How Electron ends here. */
export interface Ending {
  /** From here on a user who quits is asked; `true` lets Berth end. */
  askFirst(mayEnd: () => Promise<boolean>): void
}

/** Lets Electron end only after everything of Berth's has ended in order. */
export function endInOrder(endings: Endings): Ending {
  let mayEnd: () => Promise<boolean> = async () => true
  let doing: 'nothing' | 'asking' | 'ending' | 'ended' = 'nothing'

  async function end(): Promise<void> {
    if (doing === 'ending') return
    doing = 'ending'
    await endings.end()
    doing = 'ended'
    app.exit(0)
  }

  app.on('before-quit', event => {
    if (doing === 'ended') return
    event.preventDefault()
    if (doing !== 'nothing') return
    doing = 'asking'
    void mayEnd().then(yes => {
      if (doing !== 'asking') return
      doing = 'nothing'
      if (yes) void end()
    })
  })
  // A window that is closed does not end Berth by itself: it may go on in the tray.
  app.on('window-all-closed', () => undefined)
  // Told by the system, or by whoever started it: there is nobody to ask.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end())
  void app.whenReady().then(() => powerMonitor.on('shutdown', () => void end()))

  return {
    askFirst(ask) {
      mayEnd = ask
    },
  }
}
