import { counted } from '../../../contract/format/size.ts'
import type { BroughtHome, SkipReason } from '../../../contract/instance/sync.ts'
import type { Problem } from '../../../contract/problem.ts'

/** The problem of missing results, which forbids destroying the machine. A failed command may have no results. */
export function leftBehind({ missing, skipped }: BroughtHome, code: number | undefined): Problem | undefined {
  const left = skipped.filter(({ path, why }) => !unwanted.has(why) && !path.split('/').includes('.git'))
  if (left.length > 0)
    return {
      code: left.some(({ why }) => why === 'changed') ? 'results_changing' : 'results_left',
      message: `${counted(left.length, 'file')} could not be brought home: ${named(left.map(({ path }) => path))}.`,
      advice: fetchFirst,
    }
  if (missing.length === 0 || code !== 0) return undefined
  return {
    code: 'results_missing',
    message: `The command has ended, and ${named(missing)} is not there.`,
    advice: fetchFirst,
  }
}

/** Reasons to skip a file that do not matter. */
const unwanted = new Set<SkipReason>(['link', 'special'])
const fetchFirst =
  'Start its machine and fetch what you need in Files. Giving the run up destroys the machine.'

/** The first few paths. */
function named(paths: readonly string[]): string {
  const more = paths.length - mostNamed
  return `${paths.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
const mostNamed = 3
