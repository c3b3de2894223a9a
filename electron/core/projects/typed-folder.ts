import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { BerthError } from '#contract/problem.ts'
import type { Machine } from '#machine/machine.ts'

/**
 * The absolute path of a folder that a page in a browser names. Since the page may be hostile, only folders that the
 * user made a project of: with a `berth.yaml` or a git repository, below the home folder, hidden nowhere and reached
 * by no link. Throws `not_offered` for any other, whether it exists or not.
 */
export async function typedFolder(
  { home, syncedFolders }: Pick<Machine, 'home' | 'syncedFolders'>,
  typed: string,
): Promise<string> {
  const below = relative(home, resolve(home, typed.replace(/^~(?=[/\\]|$)/, '.')))
  const names = below.split(sep)
  // Steps up begin with a dot, too.
  if (isAbsolute(below) || names.some(name => name === '' || name.startsWith('.') || /[:\0]/.test(name)))
    throw new BerthError(notOffered)
  let folder = home
  for (const name of names) {
    const entry = await syncedFolders.at(folder).stat(name)
    if (entry?.kind !== 'folder') throw new BerthError(notOffered)
    folder = join(folder, name)
  }
  const entries = await syncedFolders.at(folder).list('')
  if (!entries.some(({ name }) => name === 'berth.yaml' || name === '.git')) throw new BerthError(notOffered)
  return folder
}

const notOffered = {
  code: 'not_offered',
  message: 'The page can’t add this folder.',
  advice:
    'It must be below your home folder, not hidden, and have a berth.yaml or a git repository. For any other folder, run berth project add in a terminal.',
  field: 'path',
}
