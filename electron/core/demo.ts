import type { DemoEvent, DemoMessage } from '#contract/demo-events.ts'
import type { Files } from '#platform/platform.ts'
import { BerthError } from '#shared/problem.ts'
import type { AccountView } from '#shared/state.ts'

/** The demo as the entry file passes it in: its market starts when it is first needed. */
export interface Demo {
  /** Whether Berth starts with the demo. */
  atStart: boolean
  /** How many times faster than this computer's its time runs. */
  speed: number
  /** A temporary folder that is deleted when Berth ends. */
  files: Files
  /** Starts the market, or returns the running one. */
  start(): Promise<DemoMarket>
}

export interface DemoMarket {
  baseUrl: string
  key: string
  controls: DemoControls
}

/** Controls over the market, for trying things out. */
export interface DemoControls {
  /** Dollars. */
  setCredit(dollars: number): void
  outbid(instanceId: number): void
  forceStatus(instanceId: number, status: string): void
  /** Seconds. */
  advance(seconds: number): void
  /** The codes that a real service would have sent to the user, oldest first. */
  outbox(): readonly DemoMessage[]
}

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
