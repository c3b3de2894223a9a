import { outputRows } from '#shared/automation/output-rows.ts'
import type { RunProgress } from '#shared/automation/run.ts'
import { toolBarIn } from './tool-progress.ts'

/** Rows at the end that are searched for bars, as programs print others between two updates, and what is read of each. */
const near = { rows: 100, characters: 1000 }

/** The epochs done before one, of how many. */
interface Epoch {
  before: number
  of: number
}

/** One progress bar, as it was drawn last. */
interface Bar {
  /** From 0 to 1. */
  share: number
  /** Seconds since it began and until its end, by its own estimate. */
  elapsed?: number | undefined
  left?: number | undefined
  /** Its total as printed, and the text before it without figures: the same for each pass of a loop. */
  name: string
  /** It counts bytes, as a download does. */
  bytes?: boolean
  /** The one epoch that the bar is of. */
  epoch?: Epoch | undefined
  /** It is one epoch's, of which it names no number of all. */
  ofSomeEpoch?: boolean
}

/**
 * The progress of a run by the bars in its plain output: tqdm's, Keras's, Ultralytics', or rich's, as in pip and
 * Lightning, and those of tools that set-ups call. Of nested bars the outer one counts; a bar of one epoch counts as
 * its part of all epochs. A bar that is full is over: the run isn't. Undefined where no bar is the run's.
 */
export function lastProgress(text: string): RunProgress | undefined {
  const rows = outputRows(near)(text).filter(row => row.trim() !== '')
  const bars = rows.map(barIn)
  return epochsProgress(rows, bars) ?? plainProgress(bars)
}

/** By the last epoch that is numbered among all. */
function epochsProgress(
  rows: readonly string[],
  bars: readonly (Bar | undefined)[],
): RunProgress | undefined {
  const at = bars.findLastIndex(bar => bar?.epoch !== undefined)
  const last = bars[at]
  // Keras names the epoch on a row above its bar.
  const titles = rows.map(row => /^Epoch (\d{1,9})\/(\d{1,9})$/.exec(row.trim()))
  const titleAt = titles.findLastIndex(title => title !== null)
  if (titleAt > at) {
    const [, number, of] = titles[titleAt] ?? []
    const bar = bars.slice(titleAt).findLast(bar => bar !== undefined)
    // A title alone is any program's; behind a bar it is that of an epoch that has just begun.
    const begun = bars.some(bar => bar !== undefined) ? { share: 0, name: '' } : undefined
    const shown = bar ?? begun
    return shown && epochProgress({ before: Number(number) - 1, of: Number(of) }, shown)
  }
  return last?.epoch && epochProgress(last.epoch, last)
}

/** The time left is known in the last epoch alone. */
function epochProgress({ before, of }: Epoch, { share, left }: Bar): RunProgress | undefined {
  if (before < 0 || before >= of) return undefined
  const secondsLeft = before + 1 === of && left !== undefined ? Math.floor(left) : undefined
  return { percent: percentOf((before + share) / of), secondsLeft }
}

function plainProgress(bars: readonly (Bar | undefined)[]): RunProgress | undefined {
  const at = bars.findLastIndex(bar => bar !== undefined && bar.share < 1)
  if (at < 0) return undefined
  // Nested bars are drawn row below row, and the outer one has run for longer.
  const from = bars.findLastIndex((bar, index) => index < at && bar === undefined)
  const unfinished = bars
    .slice(from + 1, at + 1)
    .filter(bar => bar !== undefined)
    .filter(({ share }) => share < 1)
  const run = unfinished.reduce((outer, bar) => {
    if (outer.bytes !== bar.bytes) return outer.bytes ? bar : outer
    return (bar.elapsed ?? 0) > (outer.elapsed ?? 0) ? bar : outer
  })
  // One of a loop's passes, by the passes before it: how many there will be isn't known.
  const isPass = bars.slice(0, at).some(bar => bar !== run && bar?.share === 1 && bar.name === run.name)
  if (run.ofSomeEpoch || (isPass && run.name !== '')) return undefined
  return {
    percent: percentOf(run.share),
    secondsLeft: run.left === undefined ? undefined : Math.floor(run.left),
  }
}

/** Whole percent, rounded down. */
function percentOf(share: number): number {
  return Math.floor(share * 100 + 1e-9)
}

function barIn(row: string): Bar | undefined {
  const bar =
    tqdmIn(row) ??
    ultralyticsIn(row) ??
    lightningIn(row) ??
    kerasIn(row) ??
    richIn(row) ??
    stepsIn(row) ??
    toolBarIn(row)
  return bar && bar.share >= 0 && bar.share <= 1 ? bar : undefined
}

function tqdmIn(row: string): Bar | undefined {
  const match = /(\d{1,3})%\|[^|]{0,400}\|([^[\]]{0,60})\[([\d:]{1,12})<([\d:?]{1,12})/.exec(row)
  if (!match) return undefined
  const [, percent, counts = '', elapsed, left] = match
  const [, done, all] = /([\d.]{1,15})\/([\d.]{1,15})(?:\s|$)/.exec(counts) ?? []
  const share =
    Number(all) > 0 && Number(done) <= Number(all) ? Number(done) / Number(all) : Number(percent) / 100
  return {
    ...before(row, match.index),
    share,
    elapsed: seconds(elapsed),
    left: seconds(left),
    ...amount(counts, row),
  }
}

/** Percent first, then a thin bar, counts, speed, and `elapsed<left`, or elapsed alone once it is full. */
function ultralyticsIn(row: string): Bar | undefined {
  const match =
    /(\d{1,3})% [━╸╺─]{3,200} ([\d.]{1,12}[A-Za-z]{0,2}\/[\d.]{1,12}[A-Za-z]{0,2})(?: {1,3}[\d.]{1,12}[A-Za-z/]{1,8})? {1,3}([\d:.]{1,12}s?)(?:<([\d:.?]{1,12}s?))?/.exec(
      row,
    )
  if (!match) return undefined
  const [, percent, counts = '', elapsed, left] = match
  return {
    ...before(row, match.index),
    share: Number(percent) / 100,
    elapsed: seconds(elapsed),
    left: seconds(left ?? (percent === '100' ? '0s' : '')),
    ...amount(counts, counts),
  }
}

function lightningIn(row: string): Bar | undefined {
  const match = /[━╸╺]{5,200} {1,9}(\d{1,9})\/(\d{1,9}) {1,9}(\d[\d:]{0,9}) • ([\d:-]{1,10})/.exec(row)
  if (!match) return undefined
  const [, done, all, elapsed, left] = match
  const bar = {
    ...before(row, match.index),
    share: Number(done) / Number(all),
    elapsed: seconds(elapsed),
    left: seconds(left),
  }
  const [, number, last] = /Epoch (\d{1,9})\/(\d{1,9})/.exec(row) ?? []
  // It counts its epochs from 0 to the last.
  return last === undefined ? bar : { ...bar, epoch: { before: Number(number), of: Number(last) + 1 } }
}

function kerasIn(row: string): Bar | undefined {
  const match = /(\d{1,9})\/(\d{1,9}) (?:\[[=>.]{5,60}\]|━{5,60})(?: - ETA:)? (\d[\d:]{0,9}s?)/.exec(row)
  if (!match) return undefined
  const [, done, all = '', left] = match
  return { share: Number(done) / Number(all), left: seconds(left), name: all }
}

function richIn(row: string): Bar | undefined {
  const match = /[━╸╺]{5,200} {1,9}(\d{1,3})% {1,9}([\d:-]{1,10})/.exec(row)
  return match
    ? { ...before(row, match.index), share: Number(match[1]) / 100, left: seconds(match[2]) }
    : undefined
}

/** `Epoch [3/10], Step [45/100]`, as in many a training loop. */
function stepsIn(row: string): Bar | undefined {
  const match =
    /\bEpoch:? {0,3}\[?(\d{1,9})\/(\d{1,9})\]?[,:| ]{1,9}(?:Step|Iter|Iteration|Batch):? {0,3}\[?(\d{1,9})\/(\d{1,9})\]?/i.exec(
      row,
    )
  if (!match) return undefined
  const [, number, of, done, all = ''] = match
  return {
    share: Number(done) / Number(all),
    name: all,
    epoch: { before: Number(number) - 1, of: Number(of) },
  }
}

/** Facts from the text before a bar: its name, and whether it is for one epoch. */
function before(row: string, index: number): Pick<Bar, 'name' | 'epoch' | 'ofSomeEpoch'> {
  const text = row.slice(0, index)
  const name = text.replace(/[\d.:/]+/g, '').trim()
  const [, number, of] =
    /\bEpoch:? {0,3}\[?(\d{1,9})\/(\d{1,9})\]?/i.exec(text) ??
    /^\s{0,20}(\d{1,6})\/(\d{1,6}) {1,20}[\d.]{1,9}[GM]? /.exec(text) ??
    []
  if (of !== undefined) return { name, epoch: { before: Math.max(0, Number(number) - 1), of: Number(of) } }
  return /\bEpoch:? {0,3}\d{1,9}\b/i.test(text) ? { name, ofSomeEpoch: true } : { name }
}

function amount(counts: string, speed: string): Pick<Bar, 'bytes'> {
  return { bytes: /\d[kKMGT]i?B?\b/.test(counts) || /\d[kKMGT]?i?B\/s/.test(speed) }
}

/** Of `12s`, `1.4s`, `1:23` and `1:02:03`; undefined for an unknown time, `?` or `-:--:--`. */
function seconds(time: string | undefined): number | undefined {
  if (time === undefined || !/^\d+(?::\d{1,2}){0,2}(?:\.\d+)?s?$/.test(time)) return undefined
  return time
    .replace('s', '')
    .split(':')
    .reduce((sum, part) => sum * 60 + Number(part), 0)
}
