import { join } from 'node:path'
import type { Plugin } from 'vite'
import { type BuiltProgram, buildProgram } from '../../../built-program.ts'

/** Replaces the module of an account's polls, and only that, to report them. */
function watchedPolls(): Plugin {
  let isReplaced = false
  return {
    name: 'watched-polls',
    enforce: 'pre',
    resolveId(source, importer) {
      if (
        !source.endsWith('/polling/poll-all.ts') ||
        !importer?.endsWith('electron/core/accounts/session/polls.ts')
      )
        return undefined
      isReplaced = true
      return join(import.meta.dirname, 'inside/watched-poll.ts')
    },
    buildEnd(error) {
      if (!error && !isReplaced)
        throw new Error('No poll of the program is watched: its module has another name.')
    },
  }
}

/** Builds the process that is killed as a program. */
export function buildBerthProcess(): Promise<BuiltProgram> {
  return buildProgram(join(import.meta.dirname, 'berth-process.ts'), [watchedPolls()])
}
