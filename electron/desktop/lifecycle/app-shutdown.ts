import { app, autoUpdater, powerMonitor } from 'electron'
import type { Shutdown } from '#start/shutdown.ts'

/** Controls how Electron ends. */
export interface AppShutdown {
  /** Asks before the user quits, from now on; `true` lets Berth end. */
  askFirst(mayEnd: () => Promise<boolean>): void
  /** Whether an update or the end of the user's session ends Berth, for which windows must really close. */
  closesWindows(): boolean
  /** Ends Berth in order without asking. */
  end(): Promise<void>
}

/** Lets Electron end only after Berth's own shutdown. */
export function endInOrder(shutdown: Shutdown): AppShutdown {
  let mayEnd: () => Promise<boolean> = async () => true
  let doing: 'nothing' | 'asking' | 'ending' | 'ended' = 'nothing'
  let closesWindows = false
  /** At the end of a session on Windows, where Electron ends the process at once unless a quit is under way. */
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
    // Nobody is asked: who installs an update wants this end.
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
  // Closing the window does not end Berth, which may continue in the tray.
  app.on('window-all-closed', () => undefined)

  // On macOS the updater closes the windows, waits for them, and then quits.
  autoUpdater.on('before-quit-for-update', () => {
    closesWindows = true
  })
  autoUpdater.on('error', () => {
    closesWindows = false
  })

  // Windows reports the end of a session to windows only, and kills apps that have not begun to quit.
  app.on('browser-window-created', (_event, window) => {
    window.on('session-end', () => {
      closesWindows = true
      sessionEnds = true
      app.quit()
      void end()
    })
  })

  void app.whenReady().then(() => {
    // Signals come from the system or from the parent process, so nobody is asked. Not set earlier, since Electron
    // replaces handlers that were set before it is ready.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end())
    // On Linux powerMonitor's first listener misses the shutdown event, so this one is added before.
    powerMonitor.on('suspend', () => undefined)
    // The system waits for Berth's end if the event is prevented. Electron's types lack the event.
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
