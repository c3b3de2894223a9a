import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { TestProject } from 'vitest/node'
import { runScript } from '../build/run.ts'
import { buildProgram } from './built-program.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The module URL of the double of Electron. */
    double: string
  }
}

/** Before all tests: builds Berth if it is stale, and the double of Electron. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if ((await runScript('build.ts', '--if-stale')) !== 0) throw new Error('Berth could not be built.')
  const { path, remove } = await buildProgram(join(import.meta.dirname, 'electron/double/electron.ts'))
  project.provide('double', pathToFileURL(path).href)
  return remove
}
