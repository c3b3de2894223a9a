import type { Limit } from '#core/limits/model.ts'

/** An instance of the plain world. Money in micro-dollars per second, so that sums are whole numbers. */
export interface PlainInstance {
  id: number
  running: boolean
  /** Between running and stopped: its GPUs are billed until then. */
  stopping: boolean
  load: number
  perSecond: number
  diskPerSecond: number
  spent: number
  /** When it started. */
  since: number
}

/** What one poll shows Berth. */
export interface Seen {
  at: number
  /** When credit and spending were last reported: now, or before. */
  creditReadAt: number
  credit: number
  /** Spent this day, and this month, which never ends. */
  today: number
  month: number
  dayBegan: number
  dayEnds: number
  instances: readonly PlainInstance[]
}

export type Said = 'warn' | 'hold' | 'missed' | 'over' | `act ${string}`
/** How a request ends: done, refused by the service, or unsent since Berth was killed. */
export type Fate = 'done' | 'refused' | 'killed'

const gap = 600
const wobble = 300

/**
 * What a limit must do, in the simplest form: computed from all polls so far, keeping between polls only what was
 * said. It shares no code with what it checks.
 */
export class PlainLimit {
  readonly #seen: Seen[] = []
  readonly #limit: Limit
  #snoozedUntil = 0
  #saidWarning = false
  #saidHeld = false
  #saidMissed = false
  #ended = false
  #idleFrom = 0
  /** Whether it began to act, how often that was refused, and when it may retry. */
  #begun = false
  #failures = 0
  #retryAt = 0

  constructor(limit: Limit) {
    this.#limit = limit
  }

  snooze(now: number, minutes: number): void {
    if (this.#ended) return
    this.#snoozedUntil = Math.max(now, this.#due() ?? now) + minutes * 60
    this.#calm()
  }

  /** One poll, with or without an answer; `fate` is how a request made then ends. */
  poll(now: number, answer: Seen | undefined, fate: Fate): Said | undefined {
    if (this.#ended) return undefined
    const before = this.#seen.at(-1)?.at ?? this.#limit.setAt
    if (answer) this.#seen.push(answer)
    const due = this.#due()
    const ahead = this.#ahead()
    if (due === undefined || due - now > ahead + wobble) {
      this.#calm()
      return undefined
    }
    if (this.#saidMissed) return undefined
    if (now < due) {
      const last = this.#seen.at(-1)
      if (this.#limit.instance !== undefined && last && this.#targets(last).length === 0) {
        this.#calm()
        return undefined
      }
      if (this.#saidWarning || ahead === 0 || due - now > ahead) return undefined
      this.#saidWarning = true
      return 'warn'
    }
    if (now < this.#retryAt) return undefined
    if (!answer) {
      if (this.#saidHeld) return undefined
      this.#saidHeld = true
      return 'hold'
    }
    const slept = before < due && now - before > gap && now - due > gap && !this.#saidHeld && !this.#begun
    if (slept && this.#limit.missed === 'tell') {
      if (this.#once()) this.#ended = true
      this.#calm()
      this.#saidMissed = true
      return 'missed'
    }
    const creditStaleSince =
      answer.creditReadAt < answer.at && ['credit', 'budget'].includes(this.#limit.condition.kind)
    if (creditStaleSince && this.#saidHeld) return undefined
    if (creditStaleSince) {
      this.#saidHeld = true
      return 'hold'
    }
    const targets = this.#targets(answer)
    if (targets.length > 0 && fate !== 'done') return this.#fail(now, targets, fate)
    if (this.#once()) this.#ended = true
    if (targets.length === 0) return this.#once() ? 'over' : undefined
    this.#calm()
    this.#idleFrom = now + 1
    return `act ${targets.join(' ')}`
  }

  #fail(now: number, targets: readonly string[], fate: Fate): Said {
    this.#begun = true
    if (fate === 'refused') {
      this.#failures += 1
      this.#retryAt = now + Math.min(600, 15 * 2 ** this.#failures)
    }
    return `act ${targets.join(' ')}`
  }

  #calm(): void {
    this.#begun = false
    this.#failures = 0
    this.#retryAt = 0
    this.#saidWarning = false
    this.#saidHeld = false
    this.#saidMissed = false
  }

  #once(): boolean {
    return ['time', 'duration', 'cost'].includes(this.#limit.condition.kind)
  }

  #ahead(): number {
    const { condition, warning } = this.#limit
    return condition.kind === 'idle' ? Math.min(warning, condition.seconds / 2) : warning
  }

  #due(): number | undefined {
    const moment = this.#moment()
    return moment === undefined ? undefined : Math.max(moment, this.#snoozedUntil)
  }

  #moment(): number | undefined {
    const { condition, instance: id } = this.#limit
    const last = this.#seen.at(-1)
    if (condition.kind === 'time') return condition.at
    if (condition.kind === 'duration') return condition.from + condition.seconds
    if (!last) return undefined
    const sum = (rate: (instance: PlainInstance) => number) =>
      last.instances.reduce((all, instance) => all + rate(instance), 0)
    if (condition.kind === 'cost') {
      const one = last.instances.find(instance => instance.id === id)
      return one && crossing(last.at, condition.limit - one.spent, rateOf(one))
    }
    if (condition.kind === 'budget') {
      const [spent, began, ends] =
        condition.per === 'day'
          ? [last.today, last.dayBegan, last.dayEnds]
          : [last.month, 0, Number.POSITIVE_INFINITY]
      const at = crossing(Math.max(last.creditReadAt, began), condition.limit - spent, sum(rateOf))
      return at !== undefined && at < ends ? at : undefined
    }
    const calm = sum(calmRateOf)
    if (condition.kind === 'credit')
      return calm === 0 ? undefined : last.creditReadAt + last.credit / calm - condition.hours * 3600
    if (condition.kind !== 'idle') throw new Error('a kind that this model lacks')
    const since = this.#idleSince(condition.below)
    return since === undefined ? undefined : since + condition.seconds
  }

  /** Goes back through the polls while each was idle and close to the next. */
  #idleSince(below: number): number | undefined {
    let since: number | undefined
    for (const poll of this.#seen.toReversed()) {
      const one = poll.instances.find(({ id }) => id === this.#limit.instance)
      const broken = since !== undefined && since - poll.at > gap
      if (poll.at < this.#idleFrom || broken || !one?.running || one.load >= below) break
      since = poll.at
    }
    return since
  }

  #targets({ at, credit, instances }: Seen): string[] {
    const { instance: id, action, condition } = this.#limit
    if (id !== undefined) {
      const one = instances.find(instance => instance.id === id)
      return one && (action === 'destroy' || one.running) ? [`${action} ${id}`] : []
    }
    const running = instances.filter(instance => instance.running)
    const stake = (one: PlainInstance) => (one.load < 5 ? 0 : (at - one.since) * one.perSecond)
    const order = running.toSorted(
      (a, b) =>
        stake(a) - stake(b) || b.perSecond - b.diskPerSecond - (a.perSecond - a.diskPerSecond) || a.id - b.id,
    )
    const halted =
      action === 'destroy' && running.length === 0 && !instances.some(one => one.stopping)
        ? instances.filter(one => one.diskPerSecond > 0)
        : []
    const costs = halted.toSorted(
      (a, b) => a.spent - b.spent || b.diskPerSecond - a.diskPerSecond || a.id - b.id,
    )
    const all = running.length > 0 ? order : costs
    const verb = running.length > 0 ? 'stop' : 'destroy'
    const lasts = (count: number) => {
      const left = instances.reduce((sum, one) => {
        const taken = all.slice(0, count).includes(one)
        return sum + (taken ? (verb === 'stop' ? one.diskPerSecond : 0) : calmRateOf(one))
      }, 0)
      return left <= 0 || (condition.kind === 'credit' && credit / left >= condition.hours * 3600)
    }
    let count = 0
    if (condition.kind === 'credit') while (count < all.length && !lasts(count)) count += 1
    else count = all.length
    return all.slice(0, count).map(one => `${verb} ${one.id}`)
  }
}

export function rateOf({ running, stopping, perSecond, diskPerSecond }: PlainInstance): number {
  return running || stopping ? perSecond : diskPerSecond
}

/** The rate once a stop under way has ended. */
function calmRateOf({ running, perSecond, diskPerSecond }: PlainInstance): number {
  return running ? perSecond : diskPerSecond
}

function crossing(at: number, missing: number, perSecond: number): number | undefined {
  if (perSecond > 0) return at + missing / perSecond
  return missing <= 0 ? at : undefined
}
