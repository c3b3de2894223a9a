import type { InstanceView } from '../../../contract/instance/instance.ts'
import type { Guard } from '../model.ts'

/**
 * Until when what is shown of each guard stays true, if neither it nor its instance changes: by its place in the book.
 * These lie side by side, since reading an object of each guard's own takes longer than deciding on it.
 */
export interface HeldViews {
  /** Until when it stays true; undefined where it is to be drawn anew. */
  until(place: number, guard: Guard, instance: InstanceView | undefined, now: number): number | undefined
  hold(place: number, guard: Guard, instance: InstanceView | undefined, until: number): void
  /** Whether that guard was at that place, as it is now or otherwise. */
  was(place: number, guard: Guard): boolean
  /** How many places there are. */
  size(): number
  cut(size: number): void
}

export function createHeldViews(): HeldViews {
  const guards: Guard[] = []
  const instances: (InstanceView | undefined)[] = []
  const moments: number[] = []
  return {
    until(place, guard, instance, now) {
      if (guards[place] !== guard || instances[place] !== instance) return undefined
      const moment = moments[place] ?? now
      return now < moment ? moment : undefined
    },
    hold(place, guard, instance, until) {
      guards[place] = guard
      instances[place] = instance
      moments[place] = until
    },
    was: (place, guard) => guards[place] === guard || guards[place]?.id === guard.id,
    size: () => guards.length,
    cut(size) {
      for (const list of [guards, instances, moments]) list.length = size
    },
  }
}
