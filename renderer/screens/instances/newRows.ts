import type { Row } from './rows.ts'

/** Seconds in which a rental counts as new. */
const newFor = 15
/** Milliseconds for which a new row is tinted. */
export const tintedFor = 2400
/** When new rows were shown first, epoch milliseconds: a rental's row becomes its instance's. */
const shownFirst = new Map<string, number>()

/**
 * Milliseconds since a new rental was first shown; undefined for other rows, and once its tint is over. `now`: epoch
 * seconds of the account's time, which runs `rate` times as fast.
 */
export function newRowSince({ rental, instance }: Row, now: number, rate = 1): number | undefined {
  const since = rental?.startedAt ?? instance?.startedAt
  if (since === undefined || (now - since) / rate > newFor) return undefined
  const names = [rental?.id, instance && String(instance.id)].filter(name => name !== undefined)
  const first = names.map(name => shownFirst.get(name)).find(at => at !== undefined) ?? Date.now()
  for (const name of names) shownFirst.set(name, first)
  const passed = Date.now() - first
  return passed < tintedFor ? passed : undefined
}
