import type { Simulator } from '../../../simulator/simulator.ts'

/** World time, epoch seconds: read off this process's own clock, which the world's follows. */
export async function worldClock(sim: Simulator, speed: number): Promise<() => number> {
  const { now } = await sim.controls.advance(0)
  const since = performance.now()
  return () => now + ((performance.now() - since) / 1000) * speed
}
