import type { Shape } from '#renderer/bridge/stateWords.ts'
import { runCost, runState } from '#renderer/features/runs/runWords.ts'
import { isGoing, isStopped, type ProjectRunView } from '#shared/automation/run.ts'
import { latestRuns, type SweepView } from '#shared/automation/sweep.ts'
import { csv, dollars } from '#shared/format/csv.ts'
import { money } from '#shared/format/money.ts'
import { counted } from '#shared/format/size.ts'
import type { Setting } from '#shared/project/sweep.ts'
import type { Micros } from '#shared/spending/money.ts'

/** One run of a sweep, which may not have begun. */
export interface SweepRow {
  /** From 1. */
  number: number
  setting: Setting
  run: ProjectRunView | undefined
}

export function sweepRows(sweep: SweepView, runs: readonly ProjectRunView[]): SweepRow[] {
  return latestRuns(sweep, runs).map((run, index) => ({
    number: index + 1,
    setting: sweep.settings[index] ?? {},
    run,
  }))
}

/** The table's columns between number and state: the settings that differ, and the numbers that were printed. */
export function sweepColumns(rows: readonly SweepRow[]): { settings: string[]; printed: string[] } {
  const names = new Set(rows.flatMap(({ setting }) => Object.keys(setting)))
  const printed = new Set(rows.flatMap(({ run }) => Object.keys(run?.printed ?? {})))
  return { settings: [...names], printed: [...printed] }
}

/** What a table is sorted by. */
export type SweepSort = 'number' | 'state' | 'cost' | { setting: string } | { printed: string }

/** Rows whose number has diverged come last, and after them those without a value. */
export function sortedRows(
  rows: readonly SweepRow[],
  by: SweepSort,
  { descending, now }: { descending: boolean; now: number },
): SweepRow[] {
  const cellOf = ({ number, setting, run }: SweepRow): string | number | undefined => {
    if (by === 'number') return number
    if (by === 'state') return run && runState(run).word
    if (by === 'cost') return run && runCost(run, now)
    return 'setting' in by ? figured(setting[by.setting]) : run?.printed?.[by.printed]
  }
  const hasDiverged = (cell: string | number | undefined) =>
    typeof by === 'object' && 'printed' in by && typeof cell === 'string'
  const lastness = (cell: string | number | undefined) => (cell === undefined ? 2 : Number(hasDiverged(cell)))
  return rows.toSorted((a, b) => {
    const [left, right] = [cellOf(a), cellOf(b)]
    if (lastness(left) > 0 || lastness(right) > 0)
      return lastness(left) - lastness(right) || a.number - b.number
    const order =
      typeof left === 'number' && typeof right === 'number'
        ? left - right
        : String(left).localeCompare(String(right), undefined, { numeric: true })
    return (descending ? -order : order) || a.number - b.number
  })
}

/** A number where the text is one. */
function figured(text: string | undefined): string | number | undefined {
  return text === undefined || text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text)
}

/** One row for each run; costs at `now`, epoch seconds of the account's time. */
export function sweepCsv(rows: readonly SweepRow[], now: number): string {
  const { settings, printed } = sweepColumns(rows)
  const time = (at: number | undefined) => (at === undefined ? '' : new Date(at * 1000).toISOString())
  const cells = rows.map(({ number, setting, run }) => [
    number,
    ...settings.map(name => setting[name] ?? ''),
    ...printed.map(name => run?.printed?.[name] ?? ''),
    run?.step ?? 'not_begun',
    run?.code ?? '',
    time(run?.startedAt),
    time(run?.endedAt),
    run ? dollars(runCost(run, now)) : '',
    run?.instance ?? '',
  ])
  const heads = [
    'run',
    ...settings,
    ...printed,
    'step',
    'exit_code',
    'started',
    'ended',
    'cost_usd',
    'instance',
  ]
  return csv([heads, ...cells])
}

/** How far a sweep is, by the number of its runs. */
export function rowCounts(rows: readonly SweepRow[]) {
  const count = (wanted: (run: ProjectRunView) => boolean) =>
    rows.filter(({ run }) => run !== undefined && wanted(run)).length
  const going = count(isGoing)
  const done = count(({ step }) => step === 'done')
  const stopped = count(isStopped)
  const failed = count(({ step }) => step === 'failed') - stopped
  const cancelled = count(({ step }) => step === 'cancelled')
  return {
    all: rows.length,
    done,
    stopped,
    failed,
    cancelled,
    going,
    left: rows.length - done - stopped - failed - cancelled - going,
  }
}

/** The state of a sweep as a word and an icon. @param runs its runs */
export function sweepMark(sweep: SweepView, runs: readonly ProjectRunView[]): { word: string; shape: Shape } {
  if (sweep.step === 'going') return { word: 'Running', shape: 'running' }
  if (sweep.step === 'stopped') return { word: 'Stopped', shape: 'stopped' }
  if (sweep.step === 'halted') return { word: 'Paused', shape: 'needs-you' }
  const { all, done, failed } = rowCounts(sweepRows(sweep, runs))
  if (done === all) return { word: 'Done', shape: 'running' }
  return { word: 'Ended', shape: failed > 0 ? 'needs-you' : 'stopped' }
}

/** `7 of 12 done, 2 in progress, 1 failed`. */
export function countWords({
  all,
  done,
  stopped,
  failed,
  cancelled,
  going,
}: ReturnType<typeof rowCounts>): string {
  return [
    `${done} of ${all} done`,
    going > 0 && `${going} in progress`,
    stopped > 0 && `${stopped} stopped`,
    failed > 0 && `${failed} failed`,
    cancelled > 0 && `${cancelled} cancelled`,
  ]
    .filter(Boolean)
    .join(', ')
}

/** What the runs that are left will cost, as much each as those that are done: estimated; undefined before one is. */
export function costToCome(sweep: SweepView, rows: readonly SweepRow[], now: number): Micros | undefined {
  const { going, left } = rowCounts(rows)
  if (sweep.step !== 'going' || going + left === 0) return undefined
  const done = rows.flatMap(({ run }) => (run?.step === 'done' ? runCost(run, now) : []))
  if (done.length === 0) return undefined
  const each = done.reduce((sum, cost) => sum + cost, 0) / done.length
  const begun = rows.flatMap(({ run }) => (run && isGoing(run) ? runCost(run, now) : []))
  const spent = begun.reduce((sum, cost) => sum + Math.min(cost, each), 0)
  return Math.round(each * (going + left) - spent)
}

/** `$1.20 so far, about $0.80 more, at most $4.00`. */
export function sweepCostWords(sweep: SweepView, rows: readonly SweepRow[], now: number): string {
  const cost = money(runCost(sweep, now))
  const toCome = costToCome(sweep, rows, now)
  if (sweep.step !== 'going') return `${counted(rows.length, 'run')}, ${cost}`
  return [
    `${cost} so far`,
    toCome !== undefined && `about ${money(toCome)} more`,
    sweep.most !== undefined && `at most ${money(sweep.most)}`,
  ]
    .filter(Boolean)
    .join(', ')
}
