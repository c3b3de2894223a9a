import type { Chance } from './chance.ts'
import type { Living } from './live-days.ts'

/** The shortest absence in which the user reaches the console, in seconds. */
const shortest = 600
/** Payments in dollars, round sums, some of them two. */
const sums: readonly [number[], ...number[][]] = [[5], [10], [15], [25], [25, 10], [35], [50], [100]]

/** While Berth is dead the user pays, stops and destroys at the service's console. */
export function beginAbsence(living: Living, chance: Chance, seconds: number): void {
  if (seconds < shortest) return
  const { agenda, pace, sim, timeline, tally } = living
  const sometime = (what: () => unknown) => agenda.add(pace.now + chance.between(1, seconds - 1) * 1000, what)
  if (chance.happens(0.4))
    for (const dollars of chance.pick(sums))
      sometime(() => {
        tally.add('top-ups in an absence')
        timeline.paidIn(dollars, false)
        sim.controls.topUp(dollars)
      })
  if (chance.happens(0.4)) sometime(() => inTheConsole(living, chance, 'stop'))
  if (chance.happens(0.3)) sometime(() => inTheConsole(living, chance, 'destroy'))
}

async function inTheConsole(
  { elsewhere, tally }: Living,
  chance: Chance,
  what: 'stop' | 'destroy',
): Promise<void> {
  const there = elsewhere.instances()
  const running = there.filter(({ actual_status: status }) => status === 'running')
  const instance = chance.oneOf(running)
  if (!instance) return
  tally.add(`${what} in an absence`)
  await elsewhere[what](instance.id)
}
