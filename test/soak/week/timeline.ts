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
}

/** A look at the account that gave Berth a fresh answer: when it was asked for at the earliest, and when it was over. */
export interface Look {
  at: number
  until: number
  /** Whether it followed another so soon that the two agree about what time it is: guards act on no other. */
  sure: boolean
}

/** World seconds: by one look alone, at the start or after a long silence, nobody knows how fast a world's time runs. */
const soon = 300

/** What Berth's processes showed of their guards, and when they lived. */
export class Timeline {
  readonly guards = new Map<string, Stretch[]>()
  readonly lives: { from: number; until: number }[] = []
  /** For how many seconds Berth took an instance's host for silent: what it charges then is not known. */
  readonly silence = new Map<string, number>()
  readonly looks: Look[] = []
  #looking = 0
  #standing: { at: number; instances: Seen['instances'] } = { at: 0, instances: {} }
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  begun(): void {
    this.lives.push({ from: this.#now(), until: Number.POSITIVE_INFINITY })
  }

  ended(): void {
    const life = this.lives.at(-1)
    if (life) life.until = this.#now()
    for (const stretches of this.guards.values()) close(stretches, this.#now())
  }

  looking(): void {
    this.#looking = this.#now()
  }

  looked(): void {
    const from = this.lives.at(-1)?.from ?? 0
    const at = this.#looking
    const until = this.#now()
    const before = this.looks.at(-1)
    this.looks.push({
      at,
      until,
      sure: before !== undefined && before.until >= from && at - before.until < soon,
    })
  }

  /** What is shown holds until something else is. */
  seen({ guards, instances }: Seen): void {
    const now = this.#now()
    for (const [id, state] of Object.entries(this.#standing.instances))
      if (state === 'silent') this.silence.set(id, (this.silence.get(id) ?? 0) + now - this.#standing.at)
    this.#standing = { at: now, instances }
    for (const guard of guards) {
      const stretches = this.guards.get(guard.id) ?? []
      this.guards.set(guard.id, stretches)
      close(stretches, now)
      stretches.push({ guard, instances, from: now, until: Number.POSITIVE_INFINITY })
    }
    const there = new Set(guards.map(({ id }) => id))
    for (const [id, stretches] of this.guards) if (!there.has(id)) close(stretches, now)
  }
}

function close(stretches: Stretch[], now: number): void {
  const last = stretches.at(-1)
  if (last && last.until > now) last.until = now
}
