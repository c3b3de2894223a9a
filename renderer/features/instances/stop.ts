import { isGoing, type RunView } from '#contract/automation/run.ts'
import type { InstanceView } from '#contract/instance/instance.ts'
import type { Page } from '#renderer/berth/page.svelte.ts'
import { dialogs } from '#renderer/place/dialogs.svelte.ts'

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
