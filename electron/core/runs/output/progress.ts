import type { RunProgress } from '../../../contract/automation/run.ts'

/** Lines at the end that are searched for a bar: programs print others between two updates of it. */
const near = 100
/** The characters that are read of a line. */
const longest = 1000

/** The last progress bar in plain output: tqdm's, Keras's, or rich's, as in pip and Lightning. */
export function lastProgress(text: string): RunProgress | undefined {
  const lines = text.split(/[\n\r\v]/).slice(-near)
  for (const line of lines.reverse()) {
    const told = progressIn(line.slice(0, longest))
    if (told) return told
  }
  return undefined
}

function progressIn(line: string): RunProgress | undefined {
  const tqdm = /(\d{1,3})%\|[^|]{0,400}\|[^[\]]{0,60}\[[\d:]{1,12}<([\d:?]{1,12})/.exec(line)
  if (tqdm) return progressOf(Number(tqdm[1]), tqdm[2])
  const lightning = /[━╸╺]{5,200} {1,9}(\d{1,9})\/(\d{1,9}) {1,9}\d[\d:]{0,9} • ([\d:-]{1,10})/.exec(line)
  if (lightning) return progressOf(share(Number(lightning[1]), Number(lightning[2])), lightning[3])
  const keras = /(\d{1,9})\/(\d{1,9}) (?:\[[=>.]{5,60}\]|━{5,60})(?: - ETA:)? (\d[\d:]{0,9}s?)/.exec(line)
  if (keras) return progressOf(share(Number(keras[1]), Number(keras[2])), keras[3])
  const rich = /[━╸╺]{5,200} {1,9}(\d{1,3})% {1,9}([\d:-]{1,10})/.exec(line)
  return rich ? progressOf(Number(rich[1]), rich[2]) : undefined
}

/** Whole percent, rounded down. */
function share(done: number, all: number): number {
  return all === 0 ? Number.NaN : Math.floor((done / all) * 100)
}

function progressOf(percent: number, left: string | undefined): RunProgress | undefined {
  if (!(percent >= 0 && percent <= 100)) return undefined
  return { percent, secondsLeft: secondsOf(left ?? '') }
}

/** `12s`, `1:23`, `1:02:03`; undefined for an unknown time, `?` or `-:--:--`. */
function secondsOf(time: string): number | undefined {
  if (!/^\d+(?::\d{1,2}){0,2}s?$/.test(time)) return undefined
  return time
    .replace('s', '')
    .split(':')
    .reduce((seconds, part) => seconds * 60 + Number(part), 0)
}
