import { defaultStops } from '#contract/automation/limit-defaults.ts'
import { isGoing, type RunView } from '#contract/automation/run.ts'
import { starting, stoppersOf } from '#contract/automation/stoppers.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import { dialogs } from '#renderer/berth/dialogs.svelte.ts'
import type { Page } from '#renderer/berth/page.svelte.ts'
import { clicked } from '../limits/stops.ts'

/** Starts a stopped instance; asks first where a limit would stop it again immediately. */
export function start(instance: InstanceView, page: Page): unknown {
  const stopped = page.account && stoppersOf(page.account, starting(instance), page.accountNow).length > 0
  if (stopped) return dialogs.show({ kind: 'start', instance: instance.id })
  return page.actSoon(instance, 'start')
}

/** Limits the time of an instance that is started. */
export function stopAgain(
  page: Page,
  { account, instance }: { account: string; instance: number },
): Promise<string | undefined> {
  const settings = { when: defaultStops.duration, ...clicked }
  return page.attempt(page.berth.setLimit({ account, instance, ...settings }))
}

/** Stops an instance after five seconds to undo it; asks first where that would end a run. */
export function stop(instance: InstanceView, page: Page): unknown {
  if (runsOn(page.account?.runs ?? {}, instance.id).length > 0)
    return dialogs.show({ kind: 'stop', instance: instance.id })
  return page.actSoon(instance, 'stop')
}

/** The runs that a stop of their instance would end. */
export function runsOn(runs: Readonly<Record<string, RunView>>, instance: number): RunView[] {
  return Object.values(runs).filter(
    run => run.instance === instance && isGoing(run) && run.step !== 'waiting' && run.step !== 'ending',
  )
}
