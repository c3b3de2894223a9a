import type { InstanceView } from '#contract/instance/instance.ts'
import type { Course, LoadHistory } from '#contract/instance/load.ts'

/** Minutes of load that a row shows. */
export const shownMinutes = 60

/** Minutes that the page may have missed: without a change in State, the last value still held. */
const mostMissed = 5

/**
 * Extends the history to a later minute with the load in State; undefined where too much was missed or time went back,
 * so that it has to be fetched again.
 */
export function extendHistory(
  history: LoadHistory,
  minute: number,
  instances: Readonly<Record<string, InstanceView>>,
): LoadHistory | undefined {
  const passed = minute - history.minute
  if (passed === 0) return history
  if (passed < 0 || passed > mostMissed) return undefined
  const load: Record<string, Course> = {}
  for (const instance of Object.values(instances)) {
    const now = loadNow(instance)
    const before = history.load[instance.id]
    if (!before && now === null) continue
    const course = courseNow(before, now)
    load[instance.id] = [...course, ...new Array<number | null>(passed).fill(now)].slice(-shownMinutes)
  }
  return { minute, load }
}

/** The course with the present load as its last minute. */
export function courseNow(course: Course | undefined, now: number | null): Course {
  const before = course ?? new Array<number | null>(shownMinutes).fill(null)
  return now === null ? before : [...before.slice(0, -1), now]
}

/** Percent; null while the instance does not run or its load is unknown. */
export function loadNow({ state, gpuLoad }: Pick<InstanceView, 'state' | 'gpuLoad'>): number | null {
  return state === 'running' ? (gpuLoad ?? null) : null
}
