import { commitWords, runCost, runState } from '#renderer/features/runs/runWords.ts'
import { rowsOfPage } from '#shared/automation/output-rows.ts'
import type { ProjectRunView } from '#shared/automation/run.ts'
import { money } from '#shared/format/money.ts'
import { gpuWords } from '#shared/format/name.ts'
import { counted } from '#shared/format/size.ts'
import { duration, exactTime } from '#shared/format/time.ts'

/** One fact about two runs. */
export interface ComparedFact {
  name: string
  values: readonly [string, string]
  differs: boolean
}

/** Facts and results of two runs; costs at `now`, epoch seconds of the account's time. */
export function comparedFacts(runs: readonly [ProjectRunView, ProjectRunView], now: number): ComparedFact[] {
  const unknown = '–'
  const facts: [name: string, of: (run: ProjectRunView) => string | undefined][] = [
    ['Begun', ({ createdAt }) => exactTime(createdAt)],
    ['Ended as', run => runState(run).word],
    ['Machine', ({ gpu }) => gpu && gpuWords({ gpuCount: gpu.count, gpuName: gpu.name })],
    ['Commit', ({ commit }) => commit && commitWords(commit)],
    [
      'Took',
      ({ startedAt, endedAt }) =>
        startedAt !== undefined && endedAt !== undefined ? duration(endedAt - startedAt) : undefined,
    ],
    ['Exit code', ({ code }) => (code === undefined ? undefined : String(code))],
    ['Cost', run => money(runCost(run, now))],
    ['Downloaded', ({ downloadResult }) => downloadResult && counted(downloadResult.files, 'file')],
  ]
  return facts.map(([name, of]) => {
    const values = [of(runs[0]) ?? unknown, of(runs[1]) ?? unknown] as const
    return { name, values, differs: values[0] !== values[1] }
  })
}

/** A line of two texts: in both, or in the first or the second alone. */
export interface ComparedLine {
  text: string
  in: 'both' | 'first' | 'second'
}

/** The most lines compared of each text. */
const mostLines = 2000

/** The lines of both texts in one order, merged along their longest common subsequence. */
export function comparedLines(first: string, second: string): ComparedLine[] {
  const a = linesOf(first)
  const b = linesOf(second)
  // shared[i][j]: the length of the longest common subsequence of the lines from i and from j on.
  const shared = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1))
  const at = (i: number, j: number) => shared[i]?.[j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    const row = shared[i] ?? new Uint16Array()
    for (let j = b.length - 1; j >= 0; j--)
      row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  }
  const lines: ComparedLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]]
    if (left !== undefined && left === right) {
      lines.push({ text: left, in: 'both' })
      i++
      j++
    } else if (left !== undefined && (right === undefined || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ text: left, in: 'first' })
      i++
    } else {
      lines.push({ text: right ?? '', in: 'second' })
      j++
    }
  }
  return lines
}

function linesOf(text: string): string[] {
  return text.trimEnd().split('\n').slice(0, mostLines)
}

/** The end of an output as a terminal shows it: of a progress bar, the last state alone. */
export function lastLines(text: string, most: number): string {
  return rowsOfPage(text.trimEnd()).slice(-most).join('\n')
}
