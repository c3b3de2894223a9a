import type { DemoMessage } from '../../contract/app/demo-events.ts'
import type { Files } from '../../ports/files.ts'

/** The demo, as the entry hands it over: its market starts when it is first wanted. */
export interface Demo {
  /** Whether Berth opens on it. */
  atStart: boolean
  /** How many times faster than this machine's its time runs. */
  speed: number
  /** Where the demo's things are kept: a temporary folder that goes when Berth ends. */
  files: Files
  /** Starts the market; the same one once it runs. */
  start(): Promise<DemoMarket>
}

export interface DemoMarket {
  baseUrl: string
  key: string
  controls: DemoControls
}

/** What can be made to happen in it. */
export interface DemoControls {
  /** Dollars. */
  setCredit(dollars: number): void
  outbid(instanceId: number): void
  forceStatus(instanceId: number, status: string): void
  /** Seconds. */
  advance(seconds: number): void
  /** What the market would have sent out, oldest first. */
  outbox(): readonly DemoMessage[]
}
