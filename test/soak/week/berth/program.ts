import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build, type Plugin } from 'vite'

/** The process that is killed, as a program. */
export interface Program {
  path: string
  remove(): Promise<void>
}

/** The session's polls are watched from outside: the module that makes them is the only one that is replaced. */
function watchedPolls(): Plugin {
  let isReplaced = false
  return {
    name: 'watched-polls',
    enforce: 'pre',
    resolveId(source, importer) {
      if (
        !source.endsWith('/polling/poll-all.ts') ||
        !importer?.endsWith('electron/core/accounts/session.ts')
      )
        return undefined
      isReplaced = true
      return join(import.meta.dirname, 'inside/watched-look.ts')
    },
    buildEnd(error) {
      if (!error && !isReplaced)
        throw new Error('No poll of the program is watched: its module has another name.')
    },
  }
}

/** Built once, since what is built starts four times faster; beside node_modules, which it imports from. */
export async function buildProgram(): Promise<Program> {
  const folder = await mkdtemp(join(import.meta.dirname, '../../../../node_modules/.berth-week-'))
  await build({
    configFile: false,
    logLevel: 'error',
    plugins: [watchedPolls()],
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
