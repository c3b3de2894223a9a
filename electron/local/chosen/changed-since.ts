import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Repository } from '../../ports/synced-folders.ts'
import { childEnv } from '../child-env.ts'

/** Milliseconds, and bytes of its answer. */
const bounds = { timeout: 10_000, maxBuffer: 4 * 1024 * 1024, windowsHide: true }
/** What it is asked; submodules have a configuration of their own. */
const question =
  'status --porcelain=v1 -z --no-renames --untracked-files=no --ignore-submodules=all -- .'.split(' ')

/**
 * As git tells it. The configuration of a repository may be a stranger's, and names programs to run, so git is shown
 * another repository: an empty one that borrows the objects and the index. It is not started in the folder, where
 * Windows would look for the program first.
 */
export async function changedSince(
  folder: string,
  commit: string,
  { top, own, shared }: Repository,
): Promise<readonly string[] | undefined> {
  const empty = await mkdtemp(join(tmpdir(), 'berth-git-'))
  try {
    await Promise.all([writeFile(join(empty, 'HEAD'), `${commit}\n`), mkdir(join(empty, 'refs'))])
    const inherited = Object.entries(childEnv(process.env)).filter(([name]) => !name.startsWith('GIT_'))
    const env = {
      ...Object.fromEntries(inherited),
      GIT_DIR: empty,
      GIT_WORK_TREE: top,
      GIT_INDEX_FILE: join(own, 'index'),
      GIT_OBJECT_DIRECTORY: join(shared, 'objects'),
      GIT_OPTIONAL_LOCKS: '0',
    }
    const asked = ['-c', 'core.fsmonitor=false', '-C', folder, ...question]
    const { stdout } = await promisify(execFile)('git', asked, { ...bounds, cwd: empty, env })
    // Two letters and a space stand before each path.
    return stdout.split('\0').flatMap(line => (line === '' ? [] : line.slice(3)))
  } catch {
    return undefined
  } finally {
    await rm(empty, { recursive: true, force: true })
  }
}
