import { type ChildProcess, spawn } from 'node:child_process'
import { failToStart, readFlags } from '../electron/start/flags.ts'
import { isStale } from './dist.ts'
import { electronVersion, findElectron } from './electron/here.ts'
import { at } from './places.ts'
import { runScript } from './run.ts'

const args = process.argv.slice(2)

/** `npm start`: Berth under Electron where that is possible, else in the browser. */
async function start(): Promise<void> {
  const flags = readFlags(args)
  // In its own process, whose memory is freed after the build.
  if ((await isStale()) && (await runScript('build.ts', '--if-stale')) !== 0)
    throw new Error('Berth could not be built.')
  if (flags.browser) return startInBrowser()
  const electron = await findElectron()
  const why = 'why' in electron ? electron.why : await startElectron(electron.program)
  if (why === undefined) return
  process.stdout.write(`Berth runs in your browser, not in Electron: ${why}.\n`)
  startInBrowser()
}

/** Runs in a child process, which ends with this one and is small without the build's tools. */
function startInBrowser(): void {
  const child = spawn(process.execPath, [at('dist/main/browser.js'), ...args], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  })
  passSignalsOn(child)
  child.once('exit', code => process.exit(code ?? 1))
}

/** Gives why Electron could not start; otherwise this process ends as Electron does. */
function startElectron(program: string): Promise<string | undefined> {
  return new Promise(resolve => {
    const begun = performance.now()
    const child = spawn(program, [at('.'), ...args], { stdio: ['inherit', 'inherit', 'pipe'] })
    let said = ''
    child.stderr.on('data', chunk => {
      process.stderr.write(chunk)
      if (said.length < 10_000) said += chunk
    })
    passSignalsOn(child)
    child.once('error', error => resolve(error.message))
    child.once('exit', code => {
      if (code === 0 || performance.now() - begun > 10_000) process.exit(code ?? 1)
    })
    // Once all of its output is here.
    child.once('close', (code, signal) => {
      const why = whyNotStarted(program, signal, said)
      if (why === undefined) process.exit(code ?? 1)
      resolve(why)
    })
  })
}

/** Why Electron itself ended before Berth began in it; undefined where Berth ended it. */
function whyNotStarted(program: string, signal: NodeJS.Signals | null, said: string): string | undefined {
  // Chromium crashes at once where it cannot set up its sandbox.
  if (signal === 'SIGTRAP' || signal === 'SIGABRT') return `it ended at once (${signal})`
  if (said.includes('The platform failed to initialize')) return 'the display cannot be opened'
  try {
    electronVersion(program)
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

function passSignalsOn(child: ChildProcess): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => child.kill(signal))
  }
}

await start().catch(failToStart)
