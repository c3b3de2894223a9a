import { findElectron } from './electron-here.ts'
import { at } from './places.ts'
import { runScript, runTool } from './run.ts'

/**
 * `npm run test:electron`: runs the shell's specs, which `npm test` runs with a double of Electron, in a real one.
 * Fails where there is none, so that silence is not taken for a pass.
 */
async function testElectron(): Promise<number> {
  if (process.platform !== 'linux') return fail('they are written for the desktop of Linux')
  const electron = await findElectron()
  if ('why' in electron) return fail(electron.why)
  if ((await runScript('build.ts', '--if-stale')) !== 0) return fail('Berth could not be built')
  const env = { ...process.env, BERTH_ELECTRON: electron.program }
  return runTool('vitest', ['run', at('test/electron/specs'), ...process.argv.slice(2)], env)
}

function fail(why: string): number {
  process.stderr.write(`The specs did not run in a real Electron: ${why}.\n`)
  return 1
}

process.exitCode = await testElectron()
