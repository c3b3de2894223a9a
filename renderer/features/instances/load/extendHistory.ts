import type { InstanceView } from '../../../../electron/contract/instance/instance.ts'
import type { Course, LoadHistory } from '../../../../electron/contract/instance/load.ts'

/** Minutes of load that a row shows. */
export const shownMinutes = 60

/** Minutes that a page can have missed and still know: as long as nothing else was told, what was told last holds. */
const mostMissed = 5

/**
 * The history gone on to a later minute by what State tells of the instances now; undefined where too much was missed
 * or time went back, so that it has to be asked for.
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

/** The course up to now: its last minute goes on, and has what was told last. */
export function courseNow(course: Course | undefined, now: number | null): Course {
  const before = course ?? new Array<number | null>(shownMinutes).fill(null)
  return now === null ? before : [...before.slice(0, -1), now]
}

/** Percent; null while it does not run or is not told. */
export function loadNow({ state, gpuLoad }: Pick<InstanceView, 'state' | 'gpuLoad'>): number | null {
  return state === 'running' ? (gpuLoad ?? null) : null
}
