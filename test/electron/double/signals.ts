const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * electron_browser_main_parts.cc, `PostCreateMainMessageLoop`, and electron_browser_main_parts_posix.cc,
 * `GracefulShutdownHandler`: after the app's code has run and before it is ready, Electron puts its own handlers in the
 * place of the app's. Each quits once, and leaves the next signal to the system. One that the app sets later takes
 * the place of Electron's.
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
