import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import type { Controls } from '../../../../simulator/controls.ts'
import type { Lives } from '../berth/lives.ts'
import type { LifeStatus } from '../berth/messages.ts'
import type { Elsewhere } from '../elsewhere.ts'
import type { Agenda } from './agenda.ts'
import type { Held } from './held.ts'
import type { OpenRequests } from './open-requests.ts'

/** Real milliseconds that pending work may take at one moment of world time. */
const patience = 120_000

export interface Paced {
  controls: Controls
  agenda: Agenda
  held: Held
  open: OpenRequests
  elsewhere: Elsewhere
  lives: () => Lives
}

/**
 * Keeps world time and Berth's in step: both stand still while anything is pending, then move to the next event. The
 * speed of the machine only affects the duration.
 */
export class Pace {
  readonly #paced: Paced
  #now: number

  /** `now`: the world time, which stands still, in epoch milliseconds. */
  constructor(paced: Paced, now: number) {
    this.#paced = paced
    this.#now = now
  }

  /** Epoch milliseconds. */
  get now(): number {
    return this.#now
  }

  /** Advances to that time. */
  async until(end: number): Promise<void> {
    while (this.#now < end) await this.#step(end)
    await this.#quiet()
  }

  /** Advances until the work is settled, for at most `most` milliseconds of world time. */
  async through<Result>(work: Promise<Result>, most = 3_600_000): Promise<Result> {
    const end = this.#now + most
    let settled = false
    const settle = () => {
      settled = true
    }
    work.then(settle, settle)
    for (;;) {
      await this.#quiet()
      await turn()
      if (settled) return work
      if (this.#now >= end) throw new Error(`it did not end within ${most / 1000} seconds of world time`)
      await this.#step(end)
    }
  }

  /** Advances to the next event, or to `end`. */
  async #step(end: number): Promise<void> {
    const { agenda, controls } = this.#paced
    const timer = (await this.#quiet())?.next
    const next = Math.min(end, agenda.next() ?? end, timer ?? end)
    if (next > this.#now) await controls.advance((next - this.#now) / 1000)
    this.#now = Math.max(this.#now, next)
    if ((agenda.next() ?? Number.POSITIVE_INFINITY) > this.#now) return
    // Berth's time moves first, or calls at this moment would start at an old time and time out.
    await this.#quiet()
    await agenda.come(this.#now)
  }

  /** Waits until nothing is pending at this time; gives Berth's status, if it lives. */
  async #quiet(): Promise<LifeStatus | undefined> {
    const { held, open, elsewhere, lives } = this.#paced
    const until = performance.now() + patience
    let status: LifeStatus | undefined
    while (performance.now() < until) {
      const berth = lives().now
      const asked = held.count
      status = await inTime(berth.advance(this.#now, asked))
      // Lets a caller whose answer arrived together with the status send its next request.
      await turn()
      const isQuiet = status
        ? status.isCalm &&
          status.calls === berth.calls &&
          status.others.length === 0 &&
          status.requests.length === asked &&
          asked === held.count
        : !berth.isAlive
      if (isQuiet && open.count === held.count && elsewhere.underWay === 0) return status
      if (open.count === held.count) await pause(1)
      else await turn()
    }
    const waiting = { status, held: held.count, open: open.count, elsewhere: elsewhere.underWay }
    throw new Error(`time stands still, since something does not end: ${JSON.stringify(waiting)}`)
  }
}

/** Rejects if Berth does not report its status in time. */
async function inTime<Result>(work: Promise<Result>): Promise<Result> {
  const over = new AbortController()
  const late = pause(patience, undefined, { signal: over.signal }).then(() => {
    throw new Error('Berth did not say how it is')
  })
  late.catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    over.abort()
  }
}
