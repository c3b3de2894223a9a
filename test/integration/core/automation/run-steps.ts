import type { PlacedRunRequest, RunView } from '#shared/automation/run.ts'
import type { BerthUnderTest, World } from '#test/berth/world.ts'

/** The defaults of a run request. */
export const plainRun = {
  afterwards: 'nothing',
  watchdog: false,
  stuckAfter: 0,
  afterwardsIfStuck: false,
} as const

/** Resolves with the run's id. */
export function startRun(
  under: BerthUnderTest,
  request: Partial<PlacedRunRequest> & { command: string },
): Promise<string> {
  return under.run('startRun', { request: { ...plainRun, ...request } })
}

export function runOf(under: BerthUnderTest, id: string): RunView | undefined {
  return under.account().runs[id]
}

export function told({ notifier }: World, title: RegExp): boolean {
  return notifier.shown.some(one => title.test(one.title))
}
