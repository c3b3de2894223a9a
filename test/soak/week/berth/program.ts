import { join } from 'node:path'
import type { Plugin } from 'vite'
import { type BuiltProgram, buildProgram } from '../../../built-program.ts'

/** An account's polls are watched from outside: the module that makes them is the only one that is replaced. */
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

/** The process that is killed, as a program. */
export function buildBerthProcess(): Promise<BuiltProgram> {
  return buildProgram(join(import.meta.dirname, 'berth-process.ts'), [watchedPolls()])
}
