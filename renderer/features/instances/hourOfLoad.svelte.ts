import { untrack } from 'svelte'
import type { Page } from '#renderer/bridge/page.svelte.ts'
import { defaultLimits } from '#shared/automation/limit-defaults.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import type { Course, LoadHistory } from '#shared/instance/metrics.ts'

/** The last hour of load of all instances shown: fetched once, then extended from State. */
export class HourOfLoad {
  #history: LoadHistory | undefined = $state.raw()
  #account: string | undefined
  readonly #page: Page
  #asking = 0

  constructor(page: Page) {
    this.#page = page
  }

  readonly #minute = $derived.by(() => Math.floor(this.#page.figuresAt / 60))
  /** The account shown. Berth has its hour of load also where the service doesn't answer or refuses the key. */
  readonly #shown = $derived.by(() => (this.#page.reach === 'connected' ? this.#page.account?.id : undefined))
  readonly #isSeen = $derived.by(() => this.#page.account?.connection.status === 'online')

  /** Extends the history each minute; to be called in an effect. */
  follow(): void {
    const [minute, seen, isSeen] = [this.#minute, this.#shown, this.#isSeen]
    if (seen === undefined) return
    untrack(() => {
      const before = this.#account === seen ? this.#history : undefined
      if (before && !isSeen) return
      const next = before && extendHistory(before, minute, this.#page.account?.instances ?? {})
      if (next) this.#history = next
      else void this.#ask(seen)
    })
  }

  /** Whether it is known who has been idle. */
  get known(): boolean {
    return this.#history !== undefined
  }

  of(instance: InstanceView): Course {
    return courseNow(this.#history?.load[instance.id], loadNow(instance))
  }

  /** Minutes that a running instance has been idle, where that is worth showing; else 0. */
  idle(instance: InstanceView): number {
    const { state, gpuLoad } = instance
    if (state !== 'running' || gpuLoad === undefined || gpuLoad >= defaultLimits.idle.below) return 0
    return idleMinutes(this.of(instance))
  }

  async #ask(account: string): Promise<void> {
    const asking = ++this.#asking
    if (this.#account !== account) this.#history = undefined
    this.#account = account
    try {
      const history = await this.#page.berth.instanceLoad({ account, minutes: shownMinutes })
      if (asking === this.#asking) this.#history = heldToTheEnd(history)
    } catch {
      // The page still shows what State brings from now on.
      if (asking === this.#asking) this.#history = { minute: Math.floor(this.#page.figuresAt / 60), load: {} }
    }
  }
}

/** Minutes without load from which an instance counts as idle: shorter pauses are part of most work. */
const idleFrom = 10

/** The minutes at the end of the course in which the GPUs computed next to nothing; 0 where they are few. */
export function idleMinutes(course: Course): number {
  const worked = course.findLastIndex(load => load === null || load >= defaultLimits.idle.below)
  const idle = course.length - 1 - worked
  return idle >= idleFrom ? idle : 0
}

/** `22 min`; all that is shown of the course may only be its end. */
export function idleWords(minutes: number): string {
  return minutes >= shownMinutes ? 'over 1 h' : `${minutes} min`
}

/** Minutes of load that a row shows. */
export const shownMinutes = 60

/** Minutes that the page may have missed: without a change in State, the last value still held. */
const mostMissed = 5

/**
 * Extends the history to a later minute with the load in State; undefined where too much was missed or time went back,
 * so that it has to be fetched again.
 */
export function extendHistory(
  history: LoadHistory,
  minute: number,
  instances: Readonly<Record<string, InstanceView>>,
): LoadHistory | undefined {
  const passed = minute - history.minute
  if (passed === 0) return history
  if (passed < 0 || passed > mostMissed) return undefined
  const load: Record<string, Course> = {}
  for (const instance of Object.values(instances)) {
    const now = loadNow(instance)
    const before = history.load[instance.id]
    if (!before && now === null) continue
    const course = courseNow(before, now)
    load[instance.id] = [...course, ...new Array<number | null>(passed).fill(now)].slice(-shownMinutes)
  }
  return { minute, load }
}

/** The history as it is answered shortly before the next poll: the last load still held in the minutes since. */
export function heldToTheEnd({ minute, load }: LoadHistory): LoadHistory {
  const held = Object.entries(load).map(([id, course]) => {
    const last = course.findLastIndex(value => value !== null)
    const missed = course.length - 1 - last
    const isHeld = last >= 0 && missed <= mostMissed
    return [id, isHeld ? [...course.slice(0, last + 1), ...new Array(missed).fill(course[last])] : course]
  })
  return { minute, load: Object.fromEntries(held) }
}

/** The course with the present load as its last minute. */
export function courseNow(course: Course | undefined, now: number | null): Course {
  const before = course ?? new Array<number | null>(shownMinutes).fill(null)
  return now === null ? before : [...before.slice(0, -1), now]
}

/** Percent; null while the instance does not run or its load is unknown. */
function loadNow({ state, gpuLoad }: Pick<InstanceView, 'state' | 'gpuLoad'>): number | null {
  return state === 'running' ? (gpuLoad ?? null) : null
}
