import type { WorldClock } from './clock.ts'
import { Draw } from './draw.ts'
import type { Instances } from './instances/instances.ts'

/** The account's copies and cloud syncs, running and ended. */
export class Transfers {
  readonly #seed: number
  readonly #clock: WorldClock
  readonly #instances: Instances
  readonly #all: Transfer[] = []
  #done: Transfer[] = []

  constructor(seed: number, clock: WorldClock, instances: Instances) {
    this.#seed = seed
    this.#clock = clock
    this.#instances = instances
  }

  /**
   * Starts a transfer of one to four minutes, which fails when one of its instances stops running; `fromRest`: its source
   * need not run.
   */
  start(kind: Transfer['kind'], from: Side, to: Side, fromRest = false): void {
    const seconds = new Draw(this.#seed, 'transfer', this.#all.length).integer(60, 240)
    this.#all.push({ kind, from, to, fromRest, started: this.#clock.now(), takes: seconds * 1000, end: null })
  }

  /** Cancels copies into the instance, or syncs of it. Gives how many. */
  cancel(kind: Transfer['kind'], instanceId: number): number {
    const running = this.#all.filter(
      transfer =>
        transfer.end === null &&
        transfer.kind === kind &&
        (kind === 'copy'
          ? transfer.to.instanceId === instanceId
          : instancesOf(transfer).includes(instanceId)),
    )
    for (const transfer of running) transfer.end = { at: this.#clock.now(), how: 'cancelled' }
    return running.length
  }

  /** The instance's status line for its latest transfer, half a minute late; null without one. */
  line(instanceId: number): string | null {
    const now = this.#clock.now()
    const lines = this.#all
      .filter(transfer => instancesOf(transfer).includes(instanceId))
      .map(transfer => statusLine(transfer, now))
    return lines.findLast(line => line !== null) ?? null
  }

  /** Copies that ended since the last call, whose files must now be copied. */
  takeDone(): Transfer[] {
    const done = this.#done
    this.#done = []
    return done
  }

  /** Ends transfers that are due or have failed by now. */
  catchUp(): void {
    for (const transfer of this.#all) {
      if (transfer.end) continue
      const due = transfer.started + transfer.takes
      const halted = this.#halted(transfer)
      if (halted !== null && halted < due) transfer.end = { at: halted, how: 'failed' }
      else if (due <= this.#clock.now()) this.#finish(transfer, due)
    }
  }

  #finish(transfer: Transfer, at: number): void {
    transfer.end = { at, how: 'done' }
    if (transfer.kind === 'copy') this.#done.push(transfer)
  }

  /** The time since which one of its instances is not running; null while all run. */
  #halted(transfer: Transfer): number | null {
    const ids = instancesOf(transfer)
    const found = this.#instances.list().filter(({ id }) => ids.includes(id))
    if (new Set(ids).size > found.length) return this.#clock.now()
    const moments = found
      .filter(
        ({ id, status }) => status !== 'running' && !(transfer.fromRest && id === transfer.from.instanceId),
      )
      .map(({ since }) => since)
    return moments.length > 0 ? Math.min(...moments) : null
  }
}

/** The source or target of a transfer. */
export interface Side {
  /** Null for the caller's own machine and for a cloud. */
  instanceId: number | null
  path: string
}

/** How a transfer ended, in world milliseconds. */
export interface End {
  at: number
  how: 'done' | 'cancelled' | 'failed'
}

/** A copy between instances, or a sync of an instance with a cloud. Times in world milliseconds. */
export interface Transfer {
  readonly kind: 'copy' | 'sync'
  readonly from: Side
  readonly to: Side
  /** Whether its source need not run. */
  readonly fromRest: boolean
  readonly started: number
  /** Milliseconds it takes if nothing interrupts it. */
  readonly takes: number
  end: End | null
}

/** Milliseconds by which the status line lags behind a transfer (section 4.3). */
const LATE = 30_000
/** Milliseconds for which the end of a transfer stays in the status line. */
const LINGERS = 600_000

/** The instances of a transfer. */
export function instancesOf({ from, to }: Transfer): number[] {
  return [from.instanceId, to.instanceId].filter(id => id !== null)
}

/** The status line for a transfer at a moment; null before and long after it. */
export function statusLine(transfer: Transfer, now: number): string | null {
  const seen = now - LATE
  const { started, takes, end } = transfer
  if (seen < started) return null
  if (!end || seen < end.at)
    return `${title(transfer)}: ${Math.min(99, Math.floor(((seen - started) / takes) * 100))} %`
  if (seen > end.at + LINGERS) return null
  return `${title(transfer)}: ${end.how === 'failed' ? 'failed, an instance stopped running' : end.how}`
}

function title({ kind, from, to }: Transfer): string {
  return `${kind === 'copy' ? 'Copy' : 'Cloud sync'} of ${sideText(from, kind)} to ${sideText(to, kind)}`
}

function sideText({ instanceId, path }: Side, kind: Transfer['kind']): string {
  if (instanceId !== null) return `C.${instanceId}:${path}`
  return `${kind === 'copy' ? 'local' : 'cloud'}:${path}`
}
