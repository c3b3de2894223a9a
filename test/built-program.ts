import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build, type Plugin } from 'vite'
import { bundled } from '../build/bundled.ts'

/** A program for tests, built as one file. */
export interface BuiltProgram {
  path: string
  remove(): Promise<void>
}

/** Builds a program, which starts faster than sources; inside node_modules, from which it imports. */
export async function buildProgram(entry: string, plugins: Plugin[] = []): Promise<BuiltProgram> {
  const folder = await mkdtemp(join(import.meta.dirname, '../node_modules/.berth-built-'))
  await build({
    configFile: false,
    logLevel: 'error',
    plugins,
    ...bundled,
    build: {
      ssr: entry,
      outDir: folder,
      target: 'node20',
      rollupOptions: { output: { entryFileNames: 'program.mjs' } },
    },
  })
  return {
    path: join(folder, 'program.mjs'),
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 20 }),
  }
}
