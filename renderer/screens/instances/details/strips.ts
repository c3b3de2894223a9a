import { scale } from '#renderer/components/charts/scale.ts'
import { count, gigabytes, percent, speed, tenths } from '#shared/format/size.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type {
  Course,
  GpuCourses,
  GpuMetrics,
  InstanceMetrics,
  MachineCourses,
  MetricsHistory,
} from '#shared/instance/metrics.ts'

/** Of a GPU: percent, MiB, degrees Celsius, watts. Of the machine: percent, GB, bytes per second. */
export type Measure = keyof GpuCourses | keyof MachineCourses

/** One measure of one GPU. */
export interface Strip {
  course: Course
  /** The present value. */
  now?: number
}

/** One GPU, all of an instance together, as the service reports them, or its machine. */
export interface StripRow {
  index: number | 'all' | 'machine'
  name: string
  strips: Readonly<Partial<Record<Measure, Strip>>>
}

/** A column: one measure of all GPUs, on one scale. */
export interface StripColumn {
  measure: Measure
  title: string
  /** The value at the top of each strip. */
  top: number
  /** The mean, the sum or the maximum of the present values; undefined without any. */
  head: string | undefined
  words: (value: number) => string
}

type ReportedLoad = Pick<InstanceView, 'state' | 'gpu' | 'gpuLoad' | 'gpuTemperature'>

/** The row of the machine, without its GPUs; none while nothing of it is known. `comes`: its traffic will be read. */
export function machineStrips(
  history: MetricsHistory | undefined,
  metrics: Pick<InstanceMetrics, 'traffic'> | undefined,
  { state, cpu }: Pick<InstanceView, 'state' | 'cpu'>,
  comes = false,
): StripRow[] {
  const reported = state === 'running' ? { cpu: cpu?.load, ram: cpu?.memoryUsed } : {}
  const known = strips(history?.machine ?? {}, { ...reported, ...metrics?.traffic })
  const all = comes ? withPlaces(known, ['received', 'sent']) : known
  return Object.keys(all).length > 0 ? [{ index: 'machine', name: 'Machine', strips: all }] : []
}

/** Adds measures whose values come in a moment, so that nothing moves then; none where nothing is shown yet. */
function withPlaces(known: StripRow['strips'], coming: readonly Measure[]): StripRow['strips'] {
  if (Object.keys(known).length === 0) return known
  return { ...Object.fromEntries(coming.map(measure => [measure, { course: [] }])), ...known }
}

/**
 * A row for each GPU with separate metrics, and one for all if there are several or none has any. `comes`: these will
 * be read.
 */
export function gpuStrips(
  history: MetricsHistory | undefined,
  metrics: Pick<InstanceMetrics, 'gpus'> | undefined,
  instance: ReportedLoad,
  comes = false,
): StripRow[] {
  const runs = instance.state === 'running'
  const name = instance.gpu?.name ?? 'GPU'
  const whole = strips(
    { load: history?.load, temperature: history?.temperature },
    runs ? { load: instance.gpuLoad, temperature: instance.gpuTemperature } : {},
  )
  const indexes = new Set([
    ...Object.keys(history?.gpus ?? {}).map(Number),
    ...(metrics?.gpus.map(({ index }) => index) ?? []),
  ])
  const gpus = [...indexes]
    .sort((a, b) => a - b)
    .map((index): StripRow => {
      const told = metrics?.gpus.find(gpu => gpu.index === index)
      return { index, name: told?.name ?? name, strips: strips(history?.gpus[index] ?? {}, told ?? {}) }
    })
  const [only] = gpus
  const several = (instance.gpu?.count ?? 1) > 1
  const isWaiting = comes && metrics === undefined
  const all: StripRow = {
    index: several ? 'all' : 0,
    name,
    strips: isWaiting ? withPlaces(whole, ['memoryUsed', 'power']) : whole,
  }
  if (!only) return Object.keys(whole).length > 0 ? [all] : []
  if (gpus.length > 1 || several) return [all, ...gpus]
  return [{ ...only, strips: { ...whole, ...only.strips, ...before(only.strips, whole) } }]
}

/** The only GPU's own values, with the service's where those are missing. */
function before(own: StripRow['strips'], whole: StripRow['strips']): StripRow['strips'] {
  const both: Partial<Record<Measure, Strip>> = {}
  for (const measure of ['load', 'temperature'] as const) {
    const [strip, told] = [own[measure], whole[measure]]
    if (!strip || !told) continue
    // They end in the same minute, and may begin in different ones.
    const [ours, theirs] = [strip.course.toReversed(), told.course.toReversed()]
    const longest = Math.max(ours.length, theirs.length)
    const course = Array.from({ length: longest }, (_, back) => ours[back] ?? theirs[back] ?? null).reverse()
    both[measure] = { ...strip, course }
  }
  return both
}

const measures: readonly Measure[] = [
  ...(['load', 'memoryUsed', 'temperature', 'power'] as const),
  ...(['cpu', 'ram', 'received', 'sent'] as const),
]

function strips(
  courses: GpuCourses & MachineCourses,
  now: Partial<Record<Measure, number>>,
): StripRow['strips'] {
  const told: Partial<Record<Measure, Strip>> = {}
  for (const measure of measures) {
    const [course, value] = [courses[measure], now[measure]]
    if (course || value !== undefined) told[measure] = { course: upTo(course, value), now: value }
  }
  return told
}

function upTo(course: Course | undefined, now: number | undefined): Course {
  return now === undefined ? (course ?? []) : [...(course ?? [null]).slice(0, -1), now]
}

/**
 * The measures that any row has, each with the scale that all of its strips share.
 * @param ram GB of the machine
 */
export function stripColumns(
  gpus: readonly StripRow[],
  gpuMetrics: readonly GpuMetrics[],
  ram = 0,
): StripColumn[] {
  const each = gpus.filter(({ index }) => index !== 'all')
  const rows = each.length > 0 ? each : gpus
  return measures.flatMap((measure): StripColumn[] => {
    if (!gpus.some(gpu => gpu.strips[measure])) return []
    const now = rows.flatMap(gpu => gpu.strips[measure]?.now ?? [])
    const seen = gpus.flatMap(gpu => gpu.strips[measure]?.course.flatMap(value => value ?? []) ?? [])
    return [{ measure, words: figureWords[measure], ...scaled(measure, now, seen, gpuMetrics, ram) }]
  })
}

const figureWords: Record<Measure, (value: number) => string> = {
  load: percent,
  memoryUsed: value => gigabytes(value / 1024),
  temperature: value => `${Math.round(value)} °C`,
  power: value => `${Math.round(value)} W`,
  cpu: percent,
  ram: gigabytes,
  received: speed,
  sent: speed,
}

const machineTitles = { cpu: 'CPU', ram: 'RAM', received: 'Network in', sent: 'Network out' }

/** Bytes per second at the top of an idle network's strip. */
const leastTraffic = 1_000_000

function scaled(
  measure: Measure,
  now: readonly number[],
  seen: readonly number[],
  gpuMetrics: readonly GpuMetrics[],
  ram: number,
): Pick<StripColumn, 'title' | 'top' | 'head'> {
  const several = now.length > 1
  const highest = Math.max(0, ...now, ...seen)
  if (measure === 'cpu' || measure === 'ram' || measure === 'received' || measure === 'sent') {
    const least = measure === 'cpu' ? 100 : measure === 'ram' ? ram : leastTraffic
    const isTraffic = measure === 'received' || measure === 'sent'
    const top = isTraffic
      ? scale(0, Math.max(least, highest), leastTraffic / 10).top
      : Math.max(least, highest)
    return {
      title: machineTitles[measure],
      top,
      head: now[0] === undefined ? undefined : figureWords[measure](now[0]),
    }
  }
  const sum = now.reduce((a, b) => a + b, 0)
  const head = (words: string) => (now.length === 0 ? undefined : words)
  if (measure === 'load')
    return { title: several ? 'Load, mean' : 'Load', top: 100, head: head(percent(sum / now.length)) }
  if (measure === 'temperature')
    return {
      title: several ? 'Temperature, hottest' : 'Temperature',
      top: Math.max(100, highest),
      head: head(figureWords.temperature(Math.max(...now))),
    }
  const limits = gpuMetrics.flatMap(gpu => (measure === 'power' ? gpu.powerLimit : gpu.memoryTotal) ?? [])
  const most = limits.length === gpuMetrics.length ? limits.reduce((a, b) => a + b, 0) : 0
  const top = Math.max(highest, ...limits)
  if (measure === 'power') {
    const of = most > 0 ? ` of ${count(most)}` : ''
    return { title: 'Power', top, head: head(`${count(sum)}${of} W`) }
  }
  const of = most > 0 ? ` of ${tenths(most / 1024)}` : ''
  return { title: 'Memory', top, head: head(`${tenths(sum / 1024)}${of} GB`) }
}

/** A GPU that works much less than the others, or is hot. */
export interface OddGpu {
  index: number
  measure: Measure
  words: string
}

/** Degrees Celsius from which GPUs may slow themselves down. */
const hot = 85

/** The GPUs that the user should be warned about. */
export function oddGpus(gpus: readonly StripRow[]): OddGpu[] {
  const each = gpus.flatMap(gpu =>
    typeof gpu.index === 'number' ? [{ index: gpu.index, strips: gpu.strips }] : [],
  )
  return each.flatMap(({ index, strips: { load, temperature } }) => {
    const odd: OddGpu[] = []
    const others = each.flatMap(gpu => (gpu.index === index ? [] : (gpu.strips.load?.now ?? [])))
    const usual = others.sort((a, b) => a - b)[Math.floor(others.length / 2)]
    if (load?.now !== undefined && usual !== undefined && usual >= 50 && load.now < 0.8 * usual)
      odd.push({
        index,
        measure: 'load',
        words: `GPU ${index} is at ${percent(load.now)} load, the others at ${percent(usual)}.`,
      })
    if (temperature?.now !== undefined && temperature.now >= hot)
      odd.push({
        index,
        measure: 'temperature',
        words: `GPU ${index} is at ${figureWords.temperature(temperature.now)} and may throttle.`,
      })
    return odd
  })
}

/** A course reduced to at most so many values, each the mean of its known minutes. */
export function thinnedSeries(course: Course, most: number): Course {
  const step = Math.ceil(course.length / most)
  if (step <= 1) return course
  return Array.from({ length: Math.ceil(course.length / step) }, (_, at) => {
    const known = course.slice(at * step, (at + 1) * step).flatMap(value => value ?? [])
    return known.length === 0 ? null : known.reduce((a, b) => a + b, 0) / known.length
  })
}
