import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { TestProject } from 'vitest/node'
import { buildProgram } from '../built-program.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of the double of Electron, as a module. */
    double: string
  }
}

/** Before all tests: the double of Electron, which dozens of them start. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { path, remove } = await buildProgram(join(import.meta.dirname, 'double/electron.ts'))
  project.provide('double', pathToFileURL(path).href)
  return remove
}
