import type { FileEntry } from './test-record.ts'

/** The numbers of tests by result. */
export interface Counts {
  passed: number
  failed: number
  /** By the reason. */
  skipped: ReadonlyMap<string, number>
  /** Titles of those among the passed that had failed at first. */
  retried: string[]
  /** Paths of files that began and did not end: killed, or their process died. Each counts as one failed test. */
  lost: string[]
}

export const none: Counts = { passed: 0, failed: 0, skipped: new Map(), retried: [], lost: [] }

/**
 * Counts a run's record. Failures outside tests (an unreadable file, an uncaught error) count as one failed test, so
 * that a failed run never looks passed.
 */
export function countRecord(entries: readonly FileEntry[], exitCode: number): Counts {
  const ended = entries.flatMap(entry => ('tests' in entry ? [entry] : []))
  const all = ended.flatMap(({ tests }) => tests)
  const lost = entries.filter(({ file }) => !ended.some(entry => entry.file === file)).map(({ file }) => file)
  const broken = ended.filter(
    ({ tests, isBroken }) => isBroken && !tests.some(({ result }) => result === 'failed'),
  )
  const failed = all.filter(({ result }) => result === 'failed').length + broken.length + lost.length
  const skipped = new Map<string, number>()
  for (const { title, result, note = '' } of all) {
    const [, reason = note || 'not chosen'] = /\(skipped: ([^)]*)\)/.exec(title + note) ?? []
    if (result === 'skipped' || result === 'pending') skipped.set(reason, (skipped.get(reason) ?? 0) + 1)
  }
  return {
    passed: all.filter(({ result }) => result === 'passed').length,
    failed: failed === 0 && exitCode !== 0 ? 1 : failed,
    skipped,
    retried: all
      .filter(({ result, error }) => result === 'passed' && error !== undefined)
      .map(({ title, error }) => `${title.trim()}: ${error}`),
    lost,
  }
}

export function addCounts(one: Counts, other: Counts): Counts {
  const skipped = new Map(one.skipped)
  for (const [reason, count] of other.skipped) skipped.set(reason, (skipped.get(reason) ?? 0) + count)
  return {
    passed: one.passed + other.passed,
    failed: one.failed + other.failed,
    skipped,
    retried: [...one.retried, ...other.retried],
    lost: [...one.lost, ...other.lost],
  }
}

/** The end of a run's output: what needs a word, in a line each, and then the counts. */
export function saidCounts({ passed, failed, skipped, retried, lost }: Counts): string {
  const reasons = [...skipped].toSorted(([, a], [, b]) => b - a)
  return [
    ...lost.map(file => `Failed, since it did not end by itself: ${file}`),
    ...retried.map(title => `Passed only when it was run again: ${title}`),
    ...reasons.map(([reason, count]) => `${count} skipped: ${reason}`),
    '',
    `${passed} passed, ${failed} failed, ${reasons.reduce((sum, [, count]) => sum + count, 0)} skipped`,
    '',
  ].join('\n')
}
