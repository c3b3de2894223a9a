const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * electron_browser_main_parts.cc, `PostCreateMainMessageLoop`, and electron_browser_main_parts_posix.cc,
 * `GracefulShutdownHandler`: between the app's code and ready, Electron replaces the app's signal handlers by its own.
 * Each quits once and leaves the next signal to the system. A handler that the app sets later replaces Electron's.
 */
export function takeOverSignals(quit: () => void): void {
  for (const signal of signals) {
    process.removeAllListeners(signal)
    const once = () => {
      process.off(signal, once)
      process.off('newListener', giveWay)
      quit()
    }
    const giveWay = (name: string | symbol) => {
      if (name !== signal) return
      process.off('newListener', giveWay)
      process.off(signal, once)
    }
    process.on(signal, once)
    process.on('newListener', giveWay)
  }
}
