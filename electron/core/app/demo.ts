import type { DemoMessage } from '#contract/app/demo-events.ts'
import type { Files } from '#machine/machine.ts'

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
