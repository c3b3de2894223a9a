import { shellQuoted } from '../exec.ts'
import { unsureSeconds } from '../sync/whole.ts'

/**
 * What another machine's copied results had: how many files came, how many of them were taken and how many left, as they may
 * be half, the times of the newest and of its end, 0 where that isn't known, and the exit code of a command that had ended.
 */
export type TakenOver =
  | { found: number; files: number; left: number; missed: number; newest: number; end: number; code?: number }
  | 'torn'

/**
 * A script for `sh -s` that makes the folder into which a machine's results are copied, below the home folder. Prints its
 * absolute path.
 */
export function sidePlace(side: string, results: number): string {
  const folders = Array.from({ length: results }, (_, number) => `"$side"/${number}`)
  return script(side, [`mkdir -p "$side"/alive ${folders.join(' ')} && cd "$side" && pwd -P`])
}

/** A script for `sh -s` that prints `began` where the command had begun on the machine of which it was copied when it last ran. */
export function askBegan(side: string): string {
  return script(side, [`[ ! -s "$side"/alive/alive ] || echo began`])
}

/**
 * A script for `sh -s` that takes over the whole ones of the results that were copied to `side`, into `folder`, both relative
 * to the home folder. `whole`: no file can be half. `differ`: all that came differs from what is there. `origin`: the
 * folder on the other machine. Prints what `readTakenOver` reads.
 */
export async function takeOver(
  side: string,
  folder: string,
  results: readonly string[],
  { whole = false, differ = false, origin = '' }: { whole?: boolean; differ?: boolean; origin?: string } = {},
): Promise<string> {
  const [links, names, functions] = await Promise.all([
    import('./links.sh?raw'),
    import('./whole.sh?raw'),
    import('./take-over.sh?raw'),
  ])
  const takes = (what: 'look' | 'take') =>
    results.map((path, number) => `${what} ${number} ${shellQuoted(`${folder}/${path}`)}`)
  return script(side, [
    `rest=${whole ? '' : unsureSeconds} differ=${differ ? 1 : ''}`,
    `project=${shellQuoted(folder)} origin=${shellQuoted(origin)}`,
    links.default,
    names.default,
    functions.default,
    ...takes('look'),
    'if find_put; then',
    ...takes('look'),
    'fi',
    ...takes('take'),
    'count_missed',
    'rm -rf "$side"',
    'if [ -n "$torn" ]; then',
    "echo 'taken over torn'",
    'else',
    `echo 'taken over' "$found" "$taken" "$newest" "$end" "$left" "$code" "$missed"`,
    'fi',
  ])
}

/** Undefined where the machine could not do it. */
export function readTakenOver(output: string): TakenOver | undefined {
  if (output.includes('taken over torn')) return 'torn'
  const figures = /taken over (\d+) (\d+) (\d+) (\d+) (\d+) (\d+|-) (\d+)/.exec(output)
  if (!figures) return undefined
  const [found = 0, files = 0, newest = 0, end = 0, left = 0, code = 0, missed = 0] = figures
    .slice(1)
    .map(Number)
  return { found, files, left, missed, newest, end, ...(Number.isNaN(code) ? {} : { code }) }
}

function script(side: string, lines: readonly string[]): string {
  return ['{', `side=${shellQuoted(side)}`, 'cd || exit 1', ...lines, '} < /dev/null', ''].join('\n')
}
