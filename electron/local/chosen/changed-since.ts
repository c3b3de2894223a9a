import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Repository } from '../../ports/synced-folders.ts'
import { childEnv } from '../child-env.ts'

/** Milliseconds, and bytes of output. */
const bounds = { timeout: 10_000, maxBuffer: 4 * 1024 * 1024, windowsHide: true }
/** Submodules are ignored: each has a configuration of its own. */
const question =
  'status --porcelain=v1 -z --no-renames --untracked-files=no --ignore-submodules=all -- .'.split(' ')

/**
 * The changed files according to git. A repository's configuration may be a stranger's and can name programs to run, so
 * git works in an empty repository that borrows the objects and the index. Git is not started in the folder, since
 * Windows would search it for the program first.
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
    // Each path follows two letters and a space.
    return stdout.split('\0').flatMap(line => (line === '' ? [] : line.slice(3)))
  } catch {
    return undefined
  } finally {
    await rm(empty, { recursive: true, force: true })
  }
}
