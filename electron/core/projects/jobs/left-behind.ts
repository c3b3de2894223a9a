import { counted } from '../../../contract/format/size.ts'
import type { BroughtHome, SkipReason } from '../../../contract/instance/sync.ts'
import type { Problem } from '../../../contract/problem.ts'

/** What a machine must not be destroyed over. A command that has failed may well have left nothing. */
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

/** What nobody misses. */
const unwanted = new Set<SkipReason>(['link', 'special'])
const fetchFirst =
  'Start its machine and fetch what you need in Files. Giving the run up destroys the machine.'

/** The first few of them. */
function named(paths: readonly string[]): string {
  const more = paths.length - mostNamed
  return `${paths.slice(0, mostNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
const mostNamed = 3
