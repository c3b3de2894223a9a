import { tenths } from '#shared/format/size.ts'
import { timeOfDay } from '#shared/format/time.ts'
import type { Course } from '#shared/instance/metrics.ts'
import { type Measure, type OddGpu, type StripColumn, type StripRow, thinnedSeries } from './strips.ts'

/** One line of a panel. */
export interface PanelLine {
  name: string
  /** A value for each minute shown, the last one for now. */
  course: Course
  now: number | undefined
  /** How it is drawn: the main line with the area below it, another GPU, or another machine. */
  kind: 'main' | 'second' | 'other'
  warns: boolean
}

/** One measure over the time shown, all of whose lines share a scale. */
export interface Panel {
  measure: Measure
  title: string
  unit: string
  /** The values at the bottom and the top of the scale. */
  bottom: number
  top: number
  lines: readonly PanelLine[]
  /** Its first value has yet to come. */
  comes?: true
  /** Each of many GPUs, behind their mean. */
  each?: readonly PanelLine[]
  /** The mean of a few GPUs as the service tells it, for the minutes in which none was read. */
  unread?: Course
  /** A value to be seen in the scale, with its meaning. */
  mark?: { value: number; words: string }
  /** A figure without its unit. */
  figure: (value: number) => string
  words: (value: number) => string
}

const titles: Record<Measure, [title: string, unit: string]> = {
  load: ['Load', '%'],
  memoryUsed: ['Memory', 'GB'],
  power: ['Power', 'W'],
  temperature: ['Temperature', '°C'],
  cpu: ['CPU', '%'],
  ram: ['RAM', 'GB'],
  received: ['Network in', 'MB/s'],
  sent: ['Network out', 'MB/s'],
}

/** In the order in which they are looked at. */
const order: readonly Measure[] = [
  ...(['load', 'memoryUsed', 'power', 'temperature'] as const),
  ...(['cpu', 'ram', 'received', 'sent'] as const),
]

/** Degrees Celsius at the bottom of the temperature's scale, and from which GPUs slow themselves down. */
const coolest = 20
const hot = 85
/** GPUs that each have a name; of more, their mean has one. */
const mostLines = 2

const figures: Partial<Record<Measure, (value: number) => string>> = {
  memoryUsed: value => tenths(value / 1024),
  ram: tenths,
  received: value => tenths(value / 1e6),
  sent: value => tenths(value / 1e6),
}

/**
 * The panels of an instance, of its GPUs and then of its host.
 * @param columns the scale of each measure
 * @param minutes how many are shown
 * @param other the rows of another machine to compare it with
 */
export function panelsOf(
  rows: readonly StripRow[],
  columns: readonly StripColumn[],
  minutes: number,
  odd: readonly OddGpu[] = [],
  other?: { name: string; rows: readonly StripRow[] },
): Panel[] {
  return order.flatMap((measure): Panel[] => {
    const column = columns.find(one => one.measure === measure)
    if (!column) return []
    const [title, unit] = titles[measure]
    const warns = ({ index }: StripRow) => odd.some(one => one.index === index && one.measure === measure)
    const having = rows.filter(row => row.strips[measure])
    const gpus = having.filter(({ index }) => typeof index === 'number')
    const shown = gpus.length === 0 ? having : gpus
    const courses = shown.map(row => padded(row.strips[measure]?.course ?? [], minutes))
    const isMany = shown.length > mostLines
    const whole = gpus.length > 0 ? having.find(({ index }) => index === 'all')?.strips[measure] : undefined
    const told = whole && padded(whole.course, minutes)
    const read = meanOf(courses)
    const mean = read.map((value, at) => value ?? told?.[at] ?? null)
    const lines = isMany
      ? [
          lineOf('Mean', mean, meanNow(shown, measure) ?? whole?.now, 'main'),
          ...shown.flatMap((row, at) => (warns(row) ? [ownLine(row, at)] : [])),
        ]
      : shown.map(ownLine)
    function ownLine(row: StripRow, at: number): PanelLine {
      const name = typeof row.index === 'number' && rows.length > 1 ? `GPU ${row.index}` : ''
      const kind = shown.length <= mostLines && at === 0 ? 'main' : 'second'
      return { ...lineOf(name, courses[at] ?? [], row.strips[measure]?.now, kind), warns: warns(row) }
    }
    const others = other?.rows.filter(row => row.strips[measure]) ?? []
    if (other && others.length > 0) {
      const theirs = others.map(row => padded(row.strips[measure]?.course ?? [], minutes))
      lines.push(lineOf(other.name, meanOf(theirs), meanNow(others, measure), 'other'))
    }
    return [
      {
        measure,
        title,
        unit,
        bottom: measure === 'temperature' ? coolest : 0,
        top: Math.max(column.top, ...(other ? lines.flatMap(line => highest(line.course)) : [])),
        lines,
        ...(shown.every(row => row.strips[measure]?.course.length === 0) && { comes: true as const }),
        ...(isMany && { each: shown.map(ownLine) }),
        ...(told && !isMany && { unread: told.map((value, at) => (read[at] == null ? value : null)) }),
        ...(measure === 'temperature' && { mark: { value: hot, words: `slows at ${hot}` } }),
        figure: figures[measure] ?? (value => String(Math.round(value))),
        words: column.words,
      },
    ]
  })
}

function lineOf(name: string, course: Course, now: number | undefined, kind: PanelLine['kind']): PanelLine {
  return { name, course, now, kind, warns: false }
}

/** The last so many minutes; unknown before the course begins. */
function padded(course: Course, minutes: number): Course {
  const missing = minutes - course.length
  return missing > 0 ? [...new Array<null>(missing).fill(null), ...course] : course.slice(-minutes)
}

function known(values: readonly (number | null | undefined)[]): number[] {
  return values.flatMap(value => value ?? [])
}

function highest(course: Course): number[] {
  const all = known(course)
  return all.length === 0 ? [] : [Math.max(...all)]
}

function mean(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((a, b) => a + b, 0) / values.length
}

function meanOf(courses: readonly Course[]): Course {
  return (courses[0] ?? []).map((_, at) => mean(known(courses.map(course => course[at]))) ?? null)
}

function meanNow(rows: readonly StripRow[], measure: Measure): number | undefined {
  return mean(known(rows.map(row => row.strips[measure]?.now)))
}

/** A stretch without data between minutes that have some; `from` and `to` count minutes of the time shown. */
export interface Gap {
  from: number
  to: number
}

/** Minutes that may be missing without a word: Berth reads about once a minute. */
const usual = 2

/** Minute by minute whether anything of the instance is known there. */
function knownIn(panels: readonly Panel[]): boolean[] {
  const courses = panels.flatMap(({ lines, unread }) => [
    ...lines.filter(({ kind }) => kind !== 'other').map(({ course }) => course),
    ...(unread ? [unread] : []),
  ])
  const length = Math.max(0, ...courses.map(course => course.length))
  return Array.from({ length }, (_, at) => courses.some(course => course[at] != null))
}

/** Where a panel knows nothing, since the first minute of which any panel knows something; not before its first value. */
export function gapsIn(panel: Panel, all: readonly Panel[]): Gap[] {
  const begin = knownIn(all).indexOf(true)
  const isKnown = knownIn([panel])
  if (begin < 0 || panel.comes) return []
  const last = isKnown.length - 1
  return gapsBetween(isKnown.map((here, at) => here || at === begin || at === last))
}

/** Where nothing of the instance is known although there is data before and after. */
export function gapsOf(panels: readonly Panel[]): Gap[] {
  return gapsBetween(knownIn(panels))
}

function gapsBetween(isKnown: readonly boolean[]): Gap[] {
  const gaps: Gap[] = []
  let last: number | undefined
  for (const [at, here] of isKnown.entries()) {
    if (!here) continue
    if (last !== undefined && at - last > usual) gaps.push({ from: last, to: at })
    last = at
  }
  return gaps
}

/** `19:31 to 19:38: no data.`, of all gaps in a sentence. `until`: epoch seconds of the last minute shown. */
export function gapWords(gaps: readonly Gap[], minutes: number, until: number): string {
  const time = (at: number) => timeOfDay(until - (minutes - 1 - at) * 60)
  const most = 3
  const spans = gaps.slice(-most).map(({ from, to }) => `${time(from)} to ${time(to)}`)
  const more = gaps.length > most ? `, and ${gaps.length - most} times before` : ''
  return spans.length === 0 ? '' : `${spans.join(', ')}${more}: no data.`
}

/** All values of a panel at a minute, for those who hear the page: `Load: GPU 0 96%, GPU 1 71%`. */
export function panelReading({ title, lines, each = [], words }: Panel, at: number | undefined): string {
  const values = [...lines.filter(({ warns }) => !warns || each.length === 0), ...each].map(
    ({ name, course, now }) => {
      const value = at === undefined ? now : course[at]
      return `${name ? `${name} ` : ''}${value == null ? 'unknown' : words(value)}`
    },
  )
  return `${title}: ${values.join(', ')}`
}

/** What the drawing of a panel shows: `Load: 96% now; from 12% to 98%`. */
export function panelLabel({ title, lines, words }: Panel): string {
  const parts = lines.map(({ name, course, now }) => {
    const values = known(course)
    const range =
      values.length === 0 ? '' : `; from ${words(Math.min(...values))} to ${words(Math.max(...values))}`
    return `${name ? `${name} ` : ''}${now === undefined ? 'unknown' : `${words(now)} now`}${range}`
  })
  return `${title}: ${parts.join('. ')}`
}

/** A course as lines in a box of 1000 by 100, and the area below them; of a long one the mean of neighbours. */
export function drawn(course: Course, { bottom, top }: Pick<Panel, 'bottom' | 'top'>) {
  const points = thinnedSeries(course, most)
  const last = Math.max(1, points.length - 1)
  const pieces: string[][] = [[]]
  for (const [at, value] of points.entries()) {
    if (value === null) {
      pieces.push([])
      continue
    }
    const share = Math.min(1, Math.max(0, (value - bottom) / (top - bottom || 1)))
    pieces.at(-1)?.push(`${((at / last) * 1000).toFixed(1)} ${(100 - share * 100).toFixed(1)}`)
  }
  const whole = pieces.filter(piece => piece.length > 0)
  const x = (place: string | undefined) => place?.split(' ')[0] ?? '0'
  return {
    line: whole.map(piece => `M${(piece.length === 1 ? [...piece, ...piece] : piece).join('L')}`).join(''),
    area: whole.map(piece => `M${x(piece[0])} 100L${piece.join('L')}L${x(piece.at(-1))} 100Z`).join(''),
  }
}

/** The most points of a line. */
const most = 240
