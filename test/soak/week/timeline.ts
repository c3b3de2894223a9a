import type { GuardView } from '../../../electron/contract/automation/guard.ts'
import type { InstanceState } from '../../../electron/contract/instance/instance.ts'
import type { Seen } from './berth/messages.ts'

/** A guard as Berth showed it for a while. World times, epoch seconds. */
export interface Stretch {
  guard: GuardView
  /** Where the instances stood at its beginning. */
  instances: Readonly<Record<string, InstanceState>>
  from: number
  until: number
  /** Its place among what is shown and asked for, since much of that is at one moment. */
  order: number
}

/** A poll of the account that gave Berth a fresh answer: when it was asked for, and when it was over. */
export interface Poll {
  at: number
  until: number
  /** The same place, of its being asked for. */
  order: number
  /** Which of Berth's lives it was in, and the how many-th of it. */
  life: number
  number: number
  /** Whether it told the credit, too. */
  credit: boolean
}

/** Micro-dollars per hour, as it was told; world times, epoch seconds. */
export interface Silence {
  from: number
  until: number
  perHour: number
}

/** What was paid in, and whether that is no round sum. World time, epoch seconds; micro-dollars. */
export interface Payment {
  at: number
  paid: number
  isOdd: boolean
}

/** What Berth's processes showed of their guards, and when they lived. */
export class Timeline {
  readonly guards = new Map<string, Stretch[]>()
  readonly lives: { from: number; until: number }[] = []
  readonly polls: Poll[] = []
  /** By id: when Berth took an instance's host for silent, so that what it charges was not known, and at what price. */
  readonly silence = new Map<string, Silence[]>()
  /** By id: when Berth found an instance dead, stopped or gone that it had not seen run, and what a run costs. */
  readonly unseenRuns = new Map<string, { at: number; perHour: number }>()
  #before: Pick<Seen, 'instances' | 'running'> = { instances: {}, running: {} }
  #polling = { at: 0, order: 0 }
  #order = 0
  readonly payments: Payment[] = []
  readonly #silent = new Map<string, Silence>()
  readonly #now: () => number

  /** `now`: world time, epoch seconds. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Where its newest poll is, among all. */
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

  /** What is shown holds until something else is. */
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

/** On its way to running, or not there yet. */
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
