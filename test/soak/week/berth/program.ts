import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build, type Plugin } from 'vite'

/** The process that is killed, as a program. */
export interface Program {
  path: string
  remove(): Promise<void>
}

/** The session's looks are watched from outside: its module is the only one that is replaced. */
const watchedLooks: Plugin = {
  name: 'watched-looks',
  enforce: 'pre',
  resolveId: (source, importer) =>
    source.endsWith('/look-for-all.ts') && importer?.endsWith('electron/core/accounts/session.ts')
      ? join(import.meta.dirname, 'inside/watched-look.ts')
      : undefined,
}

/** Built once, since what is built starts four times faster; beside node_modules, which it imports from. */
export async function buildProgram(): Promise<Program> {
  const folder = await mkdtemp(join(import.meta.dirname, '../../../../node_modules/.berth-week-'))
  await build({
    configFile: false,
    logLevel: 'error',
    plugins: [watchedLooks],
    build: {
      ssr: join(import.meta.dirname, 'berth-process.ts'),
      outDir: folder,
      target: 'node20',
      rollupOptions: { output: { entryFileNames: 'berth.mjs' } },
    },
  })
  return {
    path: join(folder, 'berth.mjs'),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}
