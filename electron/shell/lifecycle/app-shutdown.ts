import { app, autoUpdater, powerMonitor } from 'electron'
import type { Shutdown } from '../../local/start/shutdown.ts'

/** How Electron ends here. */
export interface AppShutdown {
  /** From here on a user who quits is asked; `true` lets Berth end. */
  askFirst(mayEnd: () => Promise<boolean>): void
  /** Whether something ends Berth that must see its windows close: an update, or the end of the user's session. */
  closesWindows(): boolean
  /** Ends Berth in order, without a question. */
  end(): Promise<void>
}

/** Lets Electron end only after everything of Berth's has ended in order. */
export function endInOrder(shutdown: Shutdown): AppShutdown {
  let mayEnd: () => Promise<boolean> = async () => true
  let doing: 'nothing' | 'asking' | 'ending' | 'ended' = 'nothing'
  let closesWindows = false
  /** On Windows, whose session ends: Electron must see a quit under way, or it ends the process at once. */
  let sessionEnds = false

  async function end(): Promise<void> {
    if (doing === 'ending' || doing === 'ended') return
    doing = 'ending'
    await shutdown.exit(() => {
      doing = 'ended'
      app.exit(0)
    })
  }

  app.on('before-quit', event => {
    if (doing === 'ended' || sessionEnds) return
    event.preventDefault()
    // Whoever installs an update has said so.
    if (closesWindows) return void end()
    if (doing !== 'nothing') return
    doing = 'asking'
    void mayEnd().then(yes => {
      if (doing !== 'asking') return
      doing = 'nothing'
      if (yes) void end()
    })
  })
  app.on('will-quit', event => {
    if (doing !== 'ended') event.preventDefault()
  })
  // A window that is closed does not end Berth by itself: it may go on in the tray.
  app.on('window-all-closed', () => undefined)

  // On macOS the updater closes the windows, waits for that, and then quits.
  autoUpdater.on('before-quit-for-update', () => {
    closesWindows = true
  })
  autoUpdater.on('error', () => {
    closesWindows = false
  })

  // Windows tells the end of a session to windows alone, and kills what has not begun to quit.
  app.on('browser-window-created', (_event, window) => {
    window.on('session-end', () => {
      closesWindows = true
      sessionEnds = true
      app.quit()
      void end()
    })
  })

  void app.whenReady().then(() => {
    // Told by the system, or by whoever started it: there is nobody to ask. Not earlier, since Electron puts its own
    // handlers in place of those that were there before it is ready.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end())
    // The first listener of all that powerMonitor gets is not told of a shutdown on Linux: this one stands before it.
    powerMonitor.on('suspend', () => undefined)
    // Prevented, the system waits for Berth's end. Its declaration leaves the event out.
    const monitor: NodeJS.EventEmitter = powerMonitor
    monitor.on('shutdown', (event: Pick<Event, 'preventDefault'>) => {
      event.preventDefault()
      void end()
    })
  })

  return {
    askFirst(ask) {
      mayEnd = ask
    },
    closesWindows: () => closesWindows,
    end,
  }
}
