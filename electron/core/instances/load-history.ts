import {
  type Course,
  type GpuCourses,
  type InstanceMetrics,
  type LoadHistory as LoadAnswer,
  longestLoad,
  type MetricsHistory,
} from '#shared/instance/metrics.ts'
import type { AccountView } from '#shared/state.ts'

export type LoadRecorder = ReturnType<typeof createLoadHistory>

type Figure = 'load' | 'memoryUsed' | 'temperature' | 'power'
const gpuFigures: readonly Figure[] = ['load', 'memoryUsed', 'temperature', 'power']
/** More GPUs than any machine has, since the count comes from the instance itself. */
const mostGpus = 64

/** The load of an account's instances, one value per minute for a day, in memory only. */
export function createLoadHistory() {
  /** Series by instance, then by name: `load`, `machine cpu`, or `3 load` for a single GPU. */
  const courses = new Map<number, Map<string, Minutes>>()

  function note(instance: number, name: string, value: number | undefined, minute: number): void {
    if (value === undefined || !Number.isFinite(value)) return
    const measured = courses.get(instance) ?? new Map<string, Minutes>()
    courses.set(instance, measured)
    const minutes = measured.get(name) ?? new Minutes()
    measured.set(name, minutes)
    minutes.note(minute, value)
  }

  return {
    /** Takes in a poll and forgets missing instances. `at`: epoch seconds of the account's time. */
    onPoll({ account: { instances }, at }: { account: Pick<AccountView, 'instances'>; at: number }): void {
      const minute = minuteOf(at)
      for (const id of courses.keys()) if (!(id in instances)) courses.delete(id)
      for (const { id, state, gpuLoad, gpuTemperature, cpu } of Object.values(instances)) {
        if (state !== 'running') continue
        note(id, 'load', gpuLoad, minute)
        note(id, 'temperature', gpuTemperature, minute)
        note(id, 'machine cpu', cpu?.load, minute)
        note(id, 'machine ram', cpu?.memoryUsed, minute)
      }
    },
    /** Takes in values that an instance reported over SSH. */
    onMetrics(
      instance: number,
      { gpus, traffic }: Pick<InstanceMetrics, 'gpus' | 'traffic'>,
      at: number,
    ): void {
      const minute = minuteOf(at)
      for (const gpu of gpus) {
        if (gpu.index >= mostGpus) continue
        for (const figure of gpuFigures) note(instance, `${gpu.index} ${figure}`, gpu[figure], minute)
      }
      note(instance, 'machine received', traffic?.received, minute)
      note(instance, 'machine sent', traffic?.sent, minute)
    },
    /** The load of each instance over the last so many minutes. */
    load(minutes: number, at: number): LoadAnswer {
      const minute = minuteOf(at)
      const load: Record<string, Course> = {}
      for (const [id, measured] of courses) {
        const course = measured.get('load')?.until(minute, minutes)
        if (course) load[id] = course
      }
      return { minute, load }
    },
    metrics(instance: number, minutes: number, at: number): MetricsHistory {
      const minute = minuteOf(at)
      const gpus: Record<string, GpuCourses> = {}
      let machine: Record<string, Course> | undefined
      const whole: { load?: Course; temperature?: Course } = {}
      for (const [name, measured] of courses.get(instance) ?? []) {
        const course = measured.until(minute, minutes)
        if (!course) continue
        const [index, figure] = name.split(' ')
        if (index === 'machine' && figure !== undefined) machine = { ...machine, [figure]: course }
        else if (index !== undefined && figure !== undefined)
          gpus[index] = { ...gpus[index], [figure]: course }
        else if (name === 'load' || name === 'temperature') whole[name] = course
      }
      return { minute, ...whole, ...(machine && { machine }), gpus }
    },
  }
}

function minuteOf(at: number): number {
  return Math.floor(at / 60)
}

/** A ring of one value per minute for a day; the last value of a minute counts. */
class Minutes {
  readonly #values = new Float32Array(longestLoad).fill(Number.NaN)
  #last: number | undefined

  note(minute: number, value: number): void {
    const last = this.#last ?? minute
    // Skipped minutes have no value, and after time went back, later values are dropped.
    const [first, end] = minute < last ? [minute + 1, last] : [last + 1, minute]
    if (end - first >= longestLoad) this.#values.fill(Number.NaN)
    else for (let silent = first; silent <= end; silent++) this.#values[silent % longestLoad] = Number.NaN
    this.#values[minute % longestLoad] = value
    this.#last = minute
  }

  /** The values of so many minutes up to `minute`, each repeated while it holds; undefined where none is known. */
  until(minute: number, minutes: number): Course | undefined {
    const last = this.#last ?? 0
    const course: Course = Array.from({ length: minutes }, (_, index) => {
      const at = minute - minutes + 1 + index
      const value = at > last || at <= last - longestLoad ? undefined : this.#values[at % longestLoad]
      return value === undefined || Number.isNaN(value) ? null : Math.round(value * 10) / 10
    })
    return course.some(value => value !== null) ? withFilledGaps(course) : undefined
  }
}

/** A value holds until the next one, but for at most three times the usual distance between two. */
function withFilledGaps(course: Course): Course {
  const knownMinutes = course.flatMap((value, minute) => (value === null ? [] : [minute]))
  const steps = knownMinutes.slice(1).map((minute, before) => minute - (knownMinutes[before] ?? minute))
  const usual = steps.sort((a, b) => a - b)[Math.floor(steps.length / 2)] ?? 1
  const filled = [...course]
  for (const [index, from] of knownMinutes.entries()) {
    const next = knownMinutes[index + 1]
    const end = next ?? Math.min(course.length, from + usual)
    if (end - from <= 3 * usual) filled.fill(course[from] ?? null, from, end)
  }
  return filled
}
