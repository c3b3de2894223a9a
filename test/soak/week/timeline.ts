import type { GuardView } from '../../../electron/contract/automation/guard.ts'
import type { InstanceState } from '../../../electron/contract/instance/instance.ts'
import type { Seen } from './berth/messages.ts'

/** A guard as Berth showed it during a period. World times in epoch seconds. */
export interface Stretch {
  guard: GuardView
  /** The states of the instances at its start. */
  instances: Readonly<Record<string, InstanceState>>
  from: number
  until: number
  /** Its place in the order of changes and polls, since many have the same time. */
  order: number
}

/** A poll with a fresh answer, with the times of its start and end. */
export interface Poll {
  at: number
  until: number
  /** The place of its start in the same order. */
  order: number
  /** The life of Berth, and the poll's number in it. */
  life: number
  number: number
  /** Whether it included the credit. */
  credit: boolean
}

/** A period of a silent host: the price shown in micro-dollars per hour, world times in epoch seconds. */
export interface Silence {
  from: number
  until: number
  perHour: number
}

/** A payment in micro-dollars, at a world time in epoch seconds. `isOdd`: it is not a round sum. */
export interface Payment {
  at: number
  paid: number
  isOdd: boolean
}

/** The record of the guards that Berth's processes showed, of their polls and their lives. */
export class Timeline {
  readonly guards = new Map<string, Stretch[]>()
  readonly lives: { from: number; until: number }[] = []
  readonly polls: Poll[] = []
  /** By instance id: periods in which Berth showed the host as silent, so that its charges were unknown. */
  readonly silence = new Map<string, Silence[]>()
  /** By id: when Berth found an instance dead, stopped or gone without having seen it run, and the price of a run. */
  readonly unseenRuns = new Map<string, { at: number; perHour: number }>()
  #before: Pick<Seen, 'instances' | 'running'> = { instances: {}, running: {} }
  #polling = { at: 0, order: 0 }
  #order = 0
  readonly payments: Payment[] = []
  readonly #silent = new Map<string, Silence>()
  readonly #now: () => number

  /** `now`: world time in epoch seconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Describes the latest poll. */
  get place(): string {
    const { life = 0, number = 0 } = this.polls.at(-1) ?? {}
    return `after poll ${this.polls.length}, number ${number} of life ${life}`
  }

  begun(): void {
    this.lives.push({ from: this.#now(), until: Number.POSITIVE_INFINITY })
  }

  ended(): void {
    const life = this.lives.at(-1)
    if (life) life.until = this.#now()
    for (const stretches of this.guards.values()) close(stretches, this.#now())
  }

  polling(): void {
    this.#order += 1
    this.#polling = { at: this.#now(), order: this.#order }
  }

  polled(credit: boolean): void {
    const life = this.lives.length
    const before = this.polls.at(-1)
    const number = before?.life === life ? before.number + 1 : 1
    this.polls.push({ ...this.#polling, until: this.#now(), life, number, credit })
  }

  paidIn(dollars: number, isOdd: boolean): void {
    this.payments.push({ at: this.#now(), paid: Math.round(dollars * 1e6), isOdd })
  }

  /** Records what Berth shows from now on. */
  seen({ guards, instances, prices, running }: Seen): void {
    const now = this.#now()
    this.#order += 1
    const order = this.#order
    const { instances: before, running: priced } = this.#before
    for (const [id, state] of Object.entries(instances))
      if (mayBeAboutToRun(before[id]) && !mayBeAboutToRun(state) && state !== 'running')
        this.unseenRuns.set(id, { at: now, perHour: running[id] ?? 0 })
    for (const [id, state] of Object.entries(before))
      if (mayBeAboutToRun(state) && !(id in instances))
        this.unseenRuns.set(id, { at: now, perHour: priced[id] ?? 0 })
    this.#before = { instances, running }
    this.#hush(instances, prices, now)
    for (const guard of guards) {
      const stretches = this.guards.get(guard.id) ?? []
      this.guards.set(guard.id, stretches)
      close(stretches, now)
      stretches.push({ guard, instances, from: now, until: Number.POSITIVE_INFINITY, order })
    }
    const there = new Set(guards.map(({ id }) => id))
    for (const [id, stretches] of this.guards) if (!there.has(id)) close(stretches, now)
  }

  #hush(instances: Seen['instances'], prices: Seen['prices'], now: number): void {
    for (const [id, silence] of this.#silent) {
      if (isSilent(instances[id])) continue
      silence.until = now
      this.#silent.delete(id)
    }
    for (const [id, state] of Object.entries(instances)) {
      if (!isSilent(state) || this.#silent.has(id)) continue
      const silence = { from: now, until: Number.POSITIVE_INFINITY, perHour: prices[id] ?? 0 }
      this.#silent.set(id, silence)
      this.silence.set(id, [...(this.silence.get(id) ?? []), silence])
    }
  }
}

/** Whether an instance is booting or does not exist yet. */
function mayBeAboutToRun(state: InstanceState | undefined): boolean {
  return state === undefined || state === 'provisioning' || state === 'loading'
}

function isSilent(state: InstanceState | undefined): boolean {
  return state === 'silent' || state === 'other' || state === 'stopping'
}

function close(stretches: Stretch[], now: number): void {
  const last = stretches.at(-1)
  if (last && last.until > now) last.until = now
}
