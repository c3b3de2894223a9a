import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Simulator, startSimulator } from '../../../simulator/simulator.ts'
import { Lives } from './berth/lives.ts'
import { buildProgram } from './berth/program.ts'
import { Chance } from './chance.ts'
import { doubles, wishesOnDisk } from './checks/accounted.ts'
import { Elsewhere } from './elsewhere.ts'
import { judge } from './judge.ts'
import { settle } from './settle.ts'
import { Tally } from './tally.ts'
import { Timeline } from './timeline.ts'
import { doSomething } from './user/user.ts'
import { weather } from './weather.ts'
import { worldClock } from './world-clock.ts'

export interface Days {
  days: number
  /** What the world, the user, the weather and the kills follow from; what overlaps is as the machine has it. */
  seed: number
  /** World seconds per real second. */
  speed: number
  /** How many times as fast as this machine Berth lives: its time limits in real time are so much shorter. */
  hurry: number
}

/** Everything about the days that are lived: who lives them, in what, and what has come of it so far. */
export interface Living extends Days {
  sim: Simulator
  lives: Lives
  elsewhere: Elsewhere
  timeline: Timeline
  tally: Tally
  folder: string
  /** World time, epoch seconds. */
  now: () => number
  /** Instances that were rented in the service's console. */
  byHand: Set<number>
  /** What must never happen, and did. */
  broken: string[]
}

/** What came of some days: nothing is broken, or it says what. */
export interface Lived {
  tally: Tally
  figures: string
  broken: readonly string[]
}

/** Real milliseconds between two looks, and between two deeds of the user, on average. */
const betweenLooks = 15
const betweenDeeds = 60
/** World seconds between two kills, on average. */
const betweenKills = 9000

/**
 * Some days of a flaky world, with rivals, faults and kills, and a user who keeps a handful of wishes alive. The world
 * runs in this process; Berth in one of its own, whose files outlive it.
 */
export async function liveDays(days: Days): Promise<Lived> {
  const { seed, speed, hurry } = days
  const program = await buildProgram()
  const folder = await mkdtemp(join(tmpdir(), 'berth-week-'))
  const sim = await startSimulator({ seed, speed, offers: 300, limits: false, flaky: 1 / 3 })
  const now = await worldClock(sim, speed)
  const timeline = new Timeline(now)
  const broken: string[] = []
  const lives = new Lives(
    program.path,
    { folder, hurry, pause: betweenLooks },
    {
      looking: () => timeline.looking(),
      looked: () => timeline.looked(),
      seen: seen => timeline.seen(seen),
      broken: what => broken.push(what),
    },
  )
  const living: Living = {
    ...days,
    sim,
    lives,
    timeline,
    folder,
    now,
    broken,
    elsewhere: new Elsewhere(sim),
    tally: new Tally(),
    byHand: new Set(),
  }
  try {
    await lives.begin()
    timeline.begun()
    await lives.now.run('connectAccount', { baseUrl: sim.baseUrl, key: sim.apiKey })
    await lives.now.run('changeSettings', { settings: { pollInterval: 2, rentalDeadline: 1800 } })
    await untilOver(living)
    await settle(living)
    return await judge(living)
  } finally {
    await lives.remove()
    await sim.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
    await program.remove()
  }
}

/** User, weather and kills, each by themselves, until the days are over. */
async function untilOver(living: Living): Promise<void> {
  const over = new AbortController()
  const { signal } = over
  const end = living.now() + living.days * 86_400
  const all = [
    weather(living.sim, new Chance(living.seed, 'weather'), signal),
    useIt(living, signal),
    killIt(living, signal),
    watchForDoubles(living, signal),
  ]
  const timer = setInterval(() => {
    if (living.now() >= end) over.abort()
  }, 50)
  try {
    await Promise.all(all)
  } finally {
    over.abort()
    clearInterval(timer)
    await Promise.allSettled(all)
  }
}

async function useIt(living: Living, signal: AbortSignal): Promise<void> {
  const { sim, lives, elsewhere, byHand, tally, now } = living
  const chance = new Chance(living.seed, 'user')
  const underWay = new Set<Promise<void>>()
  while (!signal.aborted) {
    const berth = lives.now
    const account = await berth.account().catch(() => null)
    if (account) {
      // Not waited for: some answers take longer than a life.
      const deed = doSomething({ chance, berth, account, now: now(), sim, elsewhere, byHand }, tally).finally(
        () => underWay.delete(deed),
      )
      underWay.add(deed)
    }
    await pause(chance.pause(betweenDeeds))
  }
  await Promise.all(underWay)
}

async function killIt(living: Living, signal: AbortSignal): Promise<void> {
  const { lives, timeline, tally, speed } = living
  const chance = new Chance(living.seed, 'kills')
  while (!signal.aborted) {
    await pause((chance.pause(betweenKills) * 1000) / speed, undefined, { signal }).catch(() => undefined)
    if (signal.aborted) return
    // Most come back at once; some days the laptop stays closed for hours.
    const away = chance.happens(0.2) ? chance.between(3600, 2 * 3600) : 0
    tally.add('kills')
    await lives.killed(() => {
      timeline.ended()
      return pause((away * 1000) / speed)
    })
    timeline.begun()
  }
}

/** Two instances for one wish must go as soon as they are seen: over and over again they are not to be there. */
async function watchForDoubles(
  { elsewhere, folder, broken, tally }: Living,
  signal: AbortSignal,
): Promise<void> {
  const seenBefore = new Map<string, number>()
  while (!signal.aborted) {
    await pause(1000, undefined, { signal }).catch(() => undefined)
    const instances = await elsewhere.instances()
    const found = doubles(instances, await wishesOnDisk(folder))
    for (const wish of seenBefore.keys()) if (!found.has(wish)) seenBefore.delete(wish)
    for (const [wish, ids] of found) {
      const times = (seenBefore.get(wish) ?? 0) + 1
      seenBefore.set(wish, times)
      tally.add('doubles seen')
      if (times === 6) broken.push(`${wish} has had ${ids.join(' and ')} for ${times} seconds`)
    }
  }
}
