import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { TestProject } from 'vitest/node'
import { buildProgram } from './built-program.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The module URL of the double of Electron. */
    double: string
  }
}

/** Before all tests: builds the double of Electron. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { path, remove } = await buildProgram(join(import.meta.dirname, 'electron/double/electron.ts'))
  project.provide('double', pathToFileURL(path).href)
  return remove
}
