import { readFileSync } from 'node:fs'

/**
 * Loaded before a program that npm runs: npm's shell passes no signals on, so a program whose npm was ended would go
 * on alone, and a Berth left behind would keep its folder from the next one. It then ends as by SIGTERM.
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

/** The shell, and npm above it where this system tells. A shell outlives its npm as long as its program runs. */
function ancestors(): string {
  const shell = process.ppid
  if (process.platform !== 'linux') return String(shell)
  try {
    return `${shell} ${/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${shell}/status`, 'utf8'))?.[1]}`
  } catch {
    return String(shell)
  }
}
