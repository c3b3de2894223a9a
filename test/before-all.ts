import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { TestProject } from 'vitest/node'
import { runScript } from '../build/run.ts'
import { buildProgram } from './built-program.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of the double of Electron, as a module. */
    double: string
  }
}

/** Before all tests that start them: Berth, where it is not built as it is, and the double of Electron. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if ((await runScript('build.ts', '--if-stale')) !== 0) throw new Error('Berth could not be built.')
  const { path, remove } = await buildProgram(join(import.meta.dirname, 'electron/double/electron.ts'))
  project.provide('double', pathToFileURL(path).href)
  return remove
}
