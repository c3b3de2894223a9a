import { spawn } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { failToStart } from '../electron/local/failure.ts'
import { readFlags } from '../electron/local/flags.ts'
import { buildIfStale } from './dist.ts'
import { findElectron } from './electron-here.ts'
import { at } from './places.ts'

const args = process.argv.slice(2)

/** `npm start`: Berth under Electron where that is possible, else in the browser. */
async function start(): Promise<void> {
  const flags = readFlags(args)
  await buildIfStale()
  if (flags.browser) return startInBrowser()
  const electron = await findElectron()
  const why = 'why' in electron ? electron.why : await startElectron(electron.program)
  if (why === undefined) return
  process.stdout.write(`Berth runs in your browser, not in Electron: ${why}.\n`)
  await startInBrowser()
}

/** In this very process: what is told to it is told to Berth. */
async function startInBrowser(): Promise<void> {
  endWithNpm()
  const entry = at('dist/main/browser.js')
  process.argv = [process.execPath, entry, ...args]
  await import(pathToFileURL(entry).href)
}

/** npm that is killed takes nothing with it, and a Berth left behind would keep its folder from the next one. */
function endWithNpm(): void {
  if (process.env['npm_lifecycle_event'] === undefined) return
  const npm = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === npm) return
    clearInterval(watch)
    process.kill(process.pid, 'SIGTERM')
  }, 500)
  watch.unref()
}

/** Gives why Electron could not start; otherwise this process ends as Electron does. */
function startElectron(program: string): Promise<string | undefined> {
  return new Promise(resolve => {
    const begun = performance.now()
    const child = spawn(program, [at('.'), ...args], { stdio: 'inherit' })
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => child.kill(signal))
    }
    child.once('error', error => resolve(error.message))
    child.once('exit', (code, signal) => {
      // Chromium that cannot set up its sandbox ends itself at once.
      const crashed = signal === 'SIGTRAP' || signal === 'SIGABRT'
      if (crashed && performance.now() - begun < 10_000) resolve(`it ended at once (${signal})`)
      else process.exit(code ?? 1)
    })
  })
}

await start().catch(failToStart)
