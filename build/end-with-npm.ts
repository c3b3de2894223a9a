import { readFileSync } from 'node:fs'

/**
 * Loaded before programs that npm runs. npm's shell passes no signals on, so the program would outlive npm, and Berth
 * would keep its folder locked. It therefore ends as by SIGTERM.
 */
if (process.env['npm_lifecycle_event'] !== undefined && process.platform !== 'win32') {
  const family = ancestors()
  const watch = setInterval(() => {
    if (ancestors() === family) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 250)
  watch.unref()
}

/** The ids of the shell and, on Linux, of npm above it: the shell outlives npm as long as its program runs. */
function ancestors(): string {
  const shell = process.ppid
  if (process.platform !== 'linux') return String(shell)
  try {
    return `${shell} ${/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${shell}/status`, 'utf8'))?.[1]}`
  } catch {
    return String(shell)
  }
}
