import { join } from 'node:path'
import { BerthError } from '#contract/problem.ts'
import type { Programs } from '#machine/machine.ts'
import { kinds, type Platform } from './kinds.ts'

/** An editor found on this machine. */
export interface Editor {
  id: string
  name: string
  /** The absolute path of the program to start. */
  program: string
}

export interface EditorNeeds {
  programs: Programs
  platform: Platform
  /** The user's home folder: applications are installed there, too. */
  home: string
}

/** The editors on this machine that open an instance through the SSH config. */
export async function findEditors({ programs, platform, home }: EditorNeeds): Promise<Editor[]> {
  const found = await Promise.all(
    kinds.map(async ({ id, name, places }) => {
      for (const place of places[platform]) {
        const program = await programs.find(place.startsWith('~/') ? join(home, place.slice(2)) : place)
        if (program !== undefined) return { id, name, program }
      }
      return undefined
    }),
  )
  return found.filter(editor => editor !== undefined)
}

/**
 * Opens an editor on a `Host` of the SSH config. `id` is from `findEditors`; empty means the first.
 * Throws `no_editor`, and `bad_address` for a name that Berth would not have written there.
 */
export async function openEditor(needs: EditorNeeds, id: string, host: string): Promise<void> {
  if (!/^berth-[a-z0-9][a-z0-9._-]*$/.test(host))
    throw new BerthError({ code: 'bad_address', message: 'That is no name of Berth’s in the SSH config.' })
  const editors = await findEditors(needs)
  const editor = id === '' ? editors[0] : editors.find(candidate => candidate.id === id)
  const kind = kinds.find(candidate => candidate.id === editor?.id)
  if (editor === undefined || kind === undefined) throw noEditor(id)
  await needs.programs.launch(editor.program, kind.args(host))
}

function noEditor(id: string): BerthError {
  return new BerthError({
    code: 'no_editor',
    message:
      id === ''
        ? 'No editor that Berth knows was found on this machine.'
        : `The editor “${id}” is not on this machine.`,
    advice: `Install ${kinds.map(({ name }) => name).join(', ')}, or choose another one in Settings.`,
  })
}
