import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** The most characters of a commit's subject. */
export const longest = 72

/**
 * The commits (`abc1234 Subject`) with too long subjects, of those after the one that added `rule` and not yet on a
 * remote's main; undefined without a readable history. Merges are excluded: git names them.
 */
export async function longSubjects(folder: string, rule: string): Promise<string[] | undefined> {
  const git = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)('git', args, { cwd: folder, maxBuffer: 64 * 1024 * 1024 })
    return stdout.split('\n').filter(line => line !== '')
  }
  try {
    // In a shallow clone this is the oldest commit.
    const [added] = await git('log', '-1', '--diff-filter=A', '--format=%H', '--', rule)
    if (added === undefined) return undefined
    const range = [`${added}..HEAD`, '--not', '--remotes=*/main']
    const commits = await git('log', '--no-merges', '--format=%h %s', ...range)
    return commits.filter(commit => [...commit.slice(commit.indexOf(' ') + 1)].length > longest)
  } catch {
    return undefined
  }
}
