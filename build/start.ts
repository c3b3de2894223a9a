import { type ChildProcess, spawn } from 'node:child_process'
import { failToStart } from '../electron/local/start/failure.ts'
import { readFlags } from '../electron/local/start/flags.ts'
import { isStale } from './dist.ts'
import { findElectron } from './electron/here.ts'
import { at } from './places.ts'
import { runScript } from './run.ts'

const args = process.argv.slice(2)

/** `npm start`: Berth under Electron where that is possible, else in the browser. */
async function start(): Promise<void> {
  const flags = readFlags(args)
  if (await isStale()) {
    process.stderr.write('Building Berth…\n')
    // In a process of its own, whose memory is freed after the build.
    if ((await runScript('build.ts', '--if-stale')) !== 0) throw new Error('Berth could not be built.')
  }
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
    const child = spawn(program, [at('.'), ...args], { stdio: 'inherit' })
    passSignalsOn(child)
    child.once('error', error => resolve(error.message))
    child.once('exit', (code, signal) => {
      // Chromium crashes at once where it cannot set up its sandbox.
      const crashed = signal === 'SIGTRAP' || signal === 'SIGABRT'
      if (crashed && performance.now() - begun < 10_000) resolve(`it ended at once (${signal})`)
      else process.exit(code ?? 1)
    })
  })
}

function passSignalsOn(child: ChildProcess): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => child.kill(signal))
  }
}

await start().catch(failToStart)
