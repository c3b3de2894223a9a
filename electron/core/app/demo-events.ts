import type { DemoEvent } from '#contract/app/demo-events.ts'
import { BerthError } from '#contract/problem.ts'
import type { AccountView } from '#contract/state.ts'
import type { DemoControls } from './demo.ts'

/** Dollars. */
const little = 0.5
const plenty = 50

/** Makes an event happen in the demo market, to the given instance or the first suitable one. */
export function makeHappen(
  controls: DemoControls,
  event: DemoEvent,
  instance: number | undefined,
  account: AccountView | undefined,
): void {
  switch (event) {
    case 'low_credit':
      controls.setCredit(little)
      return
    case 'top_up':
      controls.setCredit(plenty)
      return
    case 'hour_passes':
      controls.advance(3600)
      return
    case 'outbid':
      controls.outbid(instance ?? firstRunning(account, true))
      return
    case 'crash':
      controls.forceStatus(instance ?? firstRunning(account, false), 'exited')
      return
    case 'host_offline':
      controls.forceStatus(instance ?? firstRunning(account, false), 'offline')
      return
  }
}

function firstRunning(account: AccountView | undefined, interruptible: boolean): number {
  const instance = Object.values(account?.instances ?? {}).find(
    candidate => candidate.state === 'running' && (!interruptible || candidate.interruptible),
  )
  if (instance) return instance.id
  throw new BerthError({
    code: 'nothing_running',
    message: interruptible ? 'No interruptible instance is running.' : 'No instance is running.',
    advice: interruptible ? 'Rent one with a bid first.' : 'Rent one first.',
  })
}
