import { counted } from '#shared/format/size.ts'
import { harmless } from '#shared/instance/file-names.ts'
import type { Downloaded, Skipped, SkipReason } from '#shared/instance/sync.ts'
import type { Problem } from '#shared/problem.ts'

/**
 * Why the machine must not be destroyed after the last download; undefined if nothing wanted is only there. `atWork`: the
 * names of programs that the command started and that still run. `again`: how the user downloads again, such as `try
 * again`.
 */
export function leftBehind(
  { missing, skipped, unsettled }: Downloaded,
  atWork: string,
  again: string,
): Problem | undefined {
  const changing = changingIn({ skipped, unsettled })
  if (changing.length > 0)
    return mayChange(`${named(changing)} ${changing.length === 1 ? 'is' : 'are'} still being written.`, again)
  if (atWork !== '')
    return mayChange(
      `The command ended, but ${harmless(atWork.replaceAll('\n', ', '))} still runs and may write results.`,
      again,
    )
  const left = skipped.filter(({ why }) => reasons[why] !== undefined)
  if (left.length > 0) {
    const advice = new Set(left.map(({ why }) => reasons[why]?.advice))
    return {
      code: 'results_left',
      message: `${counted(left.length, 'result')} could not be downloaded: ${named(left.map(withReason))}.`,
      advice: `${[...advice].join(' ')} Then ${again}; or destroy the machine without ${left.length === 1 ? 'it' : 'them'}.`,
    }
  }
  if (missing.length === 0) return undefined
  return {
    code: 'results_missing',
    message: `The command ended, but ${named(missing)} ${missing.length === 1 ? 'is' : 'are'} missing or empty.`,
    advice: 'Look for your results in Files before you destroy the machine.',
  }
}

/** Why a checkpoint is not whole here yet; undefined if it is. */
export function stillWritten({ skipped, unsettled }: Downloaded): Problem | undefined {
  const changing = changingIn({ skipped, unsettled })
  if (changing.length === 0) return undefined
  return {
    code: 'checkpoint_waits',
    message: `${named(changing)} ${changing.length === 1 ? 'is' : 'are'} still being written, so the last whole version stays here.`,
    advice: 'It is downloaded once it was left alone for a few seconds.',
  }
}

function changingIn({ skipped, unsettled }: Pick<Downloaded, 'skipped' | 'unsettled'>): string[] {
  return [...new Set([...unsettled, ...skipped.flatMap(({ path, why }) => (why === 'changed' ? path : []))])]
}

function mayChange(message: string, again: string): Problem {
  return {
    code: 'results_changing',
    message,
    advice: `Its machine is kept. ${again.charAt(0).toUpperCase()}${again.slice(1)} to download the rest, or destroy the machine.`,
  }
}

/** Seconds that results may change at the last download, and the longest pause between two, in milliseconds. */
const changing = { seconds: 600, pause: 15_000 }

/**
 * Milliseconds until results that still change are downloaded again; undefined once they have for too long. `since` and
 * `now`: epoch seconds of this computer. `pause`: what another failure would wait.
 */
export function pauseWhileChanging(
  since: number | undefined,
  now: number,
  pause: number = changing.pause,
): number | undefined {
  const isOver = since !== undefined && now - since >= changing.seconds
  return isOver ? undefined : Math.min(pause, changing.pause)
}

/** Errors of a download that no retry solves. */
export const lastingErrors: readonly string[] = [
  'no_such_folder',
  'too_many_files',
  'too_deep',
  'in_the_way',
  'disk_full_here',
  'no_tar',
  'sync_refused',
  'results_missing',
  'results_left',
]

/** Why a result is only on the machine, and what to do. Reasons without an entry do not matter. */
const reasons: Partial<Record<SkipReason, { words: string; advice: string }>> = {
  dangling: {
    words: 'a broken link, or one with too many steps',
    advice: 'Replace the link on the machine with the files you want.',
  },
  name: { words: '', advice: 'Rename it on the machine.' },
  repository: {
    words: 'a git repository, whose settings can run programs here',
    advice: 'Push it from the machine, or pack it into one file with tar and remove its .git.',
  },
  unreadable: { words: 'it cannot be read', advice: 'Change its permissions on the machine.' },
  in_the_way: { words: 'another file has its name here', advice: 'Move the other file here away.' },
}

function withReason({ path, why, rule }: Skipped): string {
  return `${path} (${rule ?? reasons[why]?.words})`
}

/** The first few paths. */
function named(paths: readonly string[]): string {
  const more = paths.length - mostNamed
  return `${paths.slice(0, mostNamed).map(harmless).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
const mostNamed = 3
