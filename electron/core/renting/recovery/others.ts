import { rentalOf, replacesVariable } from '#core/instances/mark.ts'
import type { Instance } from '#service/instances.ts'

/**
 * The oldest replacement for an instance that another Berth on the same account rented. `knows`: whether a rental's
 * mark is this Berth's own.
 */
export function othersReplacement(
  instance: number,
  records: readonly Instance[],
  knows: (mark: string) => boolean,
): Instance | undefined {
  return records
    .filter(record => {
      const env = record.extra_env ?? []
      if (!env.some(([name, value]) => name === replacesVariable && value === String(instance))) return false
      const mark = rentalOf(record.label, env)
      return mark === undefined || !knows(mark)
    })
    .sort(byAge)[0]
}

/**
 * Of two replacements for one instance the older stays, or the lower id if both began at once. The Berth with the
 * younger one sees the older at the first poll after its creation, so it gives way before it is ready.
 */
export function givesWay(mine: Instance | undefined, other: Instance): boolean {
  return mine === undefined || byAge(other, mine) < 0
}

function byAge(a: Instance, b: Instance): number {
  return (a.start_date ?? 0) - (b.start_date ?? 0) || a.id - b.id
}
