import { type Fate, type PlainInstance, rateOf, type Seen } from './plain-model.ts'

/** Epoch seconds at which every history begins. */
export const start = 1_000_000

/** The world of a history. Prices are whole micro-dollars per second. */
export class World {
  now = start
  credit = 3_000_000
  today = 0
  month = 0
  dayBegan = 0
  dayEnds: number
  /** Whether it reports the credit, and its last report. */
  tells = true
  told: Seen | undefined
  /** How the next requests end. */
  fates: Fate[] = []
  all: PlainInstance[]

  constructor(all: readonly PlainInstance[], dayEnds: number) {
    this.dayEnds = dayEnds
    this.all = all.map(one => ({ ...one }))
  }

  pass(seconds: number): void {
    let left = seconds
    for (; this.now + left >= this.dayEnds; this.dayEnds += 86_400) {
      left -= this.dayEnds - this.now
      this.spend(this.dayEnds - this.now)
      this.today = 0
      this.dayBegan = this.dayEnds
    }
    this.spend(left)
  }

  spend(seconds: number): void {
    for (const one of this.all) {
      const cost = rateOf(one) * seconds
      one.spent += cost
      this.credit -= cost
      this.today += cost
      this.month += cost
    }
    this.now += seconds
  }

  act(said: string): void {
    for (const [, verb, number] of said.matchAll(/(stop|destroy) (\d)/g)) {
      if (verb === 'stop')
        for (const one of this.all)
          if (one.id === Number(number)) Object.assign(one, { running: false, stopping: true })
      if (verb === 'destroy') this.all = this.all.filter(one => one.id !== Number(number))
    }
  }

  seen(): Seen {
    const { now: at, credit, today, month, dayBegan, dayEnds, told } = this
    const instances = this.all.map(one => ({ ...one }))
    const now = { at, creditReadAt: at, credit, today, month, dayBegan, dayEnds, instances }
    if (this.tells || !told) {
      this.told = now
      return now
    }
    // A day that began after that report has no spending yet.
    const counted = told.creditReadAt < dayBegan ? 0 : told.today
    return { ...now, creditReadAt: told.creditReadAt, credit: told.credit, month: told.month, today: counted }
  }
}
