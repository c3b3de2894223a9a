import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Simulator, startSimulator } from '../../../simulator/simulator.ts'
import { Lives } from './berth/lives.ts'
import { buildBerthProcess } from './berth/program.ts'
import { Chance } from './chance.ts'
import { BelievedGone } from './checks/believed-gone.ts'
import { Passing } from './checks/passing.ts'
import { Repeats } from './checks/repeats.ts'
import { beginChanging } from './deployments.ts'
import { Elsewhere } from './elsewhere.ts'
import { finish } from './finish.ts'
import { judge } from './judge.ts'
import { beginKilling } from './kills.ts'
import { Tally } from './tally.ts'
import { Agenda } from './time/agenda.ts'
import { Held } from './time/held.ts'
import { OpenRequests } from './time/open-requests.ts'
import { Pace } from './time/pace.ts'
import { Timeline } from './timeline.ts'
import { beginUsing } from './user/user.ts'
import { beginWeather } from './weather.ts'

export interface Days {
  days: number
  /** The seed of the world, the user, the faults, the kills and Berth's random numbers. */
  seed: number
  /** Seconds between two polls. */
  interval: number
  /** Changes the deployment every few minutes, and makes everything else more frequent accordingly. */
  deployments?: boolean
}

/** Everything about the simulated days: the actors, the world and the results so far. */
export interface Living extends Days {
  sim: Simulator
  lives: Lives
  elsewhere: Elsewhere
  agenda: Agenda
  pace: Pace
  timeline: Timeline
  tally: Tally
  folder: string
  /** The factor of events compared with the week. */
  haste: number
  /** World time, epoch seconds. */
  now: () => number
  /** Instances rented in the service's console. */
  byHand: Set<number>
  passing: Passing
  repeats: Repeats
  believedGone: BelievedGone
  /** The failures. */
  broken: string[]
  /** Begins another life of Berth. */
  begin: () => void
  /** The days are over, and pending work ends. */
  isOver: boolean
  /** Called after the next death. */
  afterDeath: () => void
}

/** The result of the simulated days. */
export interface Lived {
  tally: Tally
  figures: string
  broken: readonly string[]
}

/** The command that repeats the same days, for failure messages. */
export function again({ seed, days, interval, deployments = false }: Days): string {
  const name = deployments ? 'deployments' : 'week'
  return `Again: BERTH_SEED=${seed} BERTH_DAYS=${days} BERTH_INTERVAL=${interval} npm run soak ${name}`
}

/** The fixed start of the days, so that a seed repeats them: a Monday in March. */
const beginning = Date.UTC(2026, 2, 2, 7)

/**
 * Simulates days of a flaky world, with rivals, faults and kills, and a user who keeps a handful of requests alive. The
 * world runs in this process, Berth in its own, whose files outlive it. World time stands still while anything works,
 * so the results do not depend on the machine.
 */
export async function liveDays(days: Days): Promise<Lived> {
  const since = performance.now()
  const { seed, deployments = false } = days
  const program = await buildBerthProcess()
  const folder = await mkdtemp(join(tmpdir(), 'berth-week-'))
  const open = new OpenRequests()
  const agenda = new Agenda()
  const held: Held = new Held(agenda, () => pace.now)
  const sim = await startSimulator({
    seed,
    speed: 0,
    start: beginning,
    offers: 300,
    limits: deployments,
    limitClock: () => pace.now,
    flaky: 1 / 3,
    faultTime: held,
  })
  const elsewhere = new Elsewhere(sim)
  const { now: began } = await sim.controls.advance(0)
  const pace: Pace = new Pace(
    { controls: sim.controls, agenda, held, open, elsewhere, lives: () => lives },
    Math.round(began * 1000),
  )
  const now = () => pace.now / 1000
  const timeline = new Timeline(now)
  const broken: string[] = []
  const where = () =>
    `${new Date(pace.now).toISOString()}, ${timeline.place}${deployments ? `, ${JSON.stringify(sim.controls.setDeployment({}))}` : ''}`
  const byHand = new Set<number>()
  const everCreated = () => sim.controls.ledger().instances.length
  const passing = new Passing(
    { elsewhere, everCreated, byHand, requests: sim.controls.requests, where },
    folder,
  )
  const repeats = new Repeats(elsewhere, where)
  const believedGone = new BelievedGone(elsewhere, where)
  const lives = new Lives(
    program.path,
    { folder, seed, servicePort: Number(new URL(sim.baseUrl).port) },
    {
      polling: () => timeline.polling(),
      polled: credit => {
        timeline.polled(credit)
        agenda.add(pace.now, async () => {
          believedGone.polled()
          await passing.polled()
        })
      },
      seen(seen) {
        timeline.seen(seen)
        believedGone.seen(seen)
      },
      asks(mark, polled) {
        const check = repeats.asks(mark, polled, now())
        if (check) agenda.add(pace.now, check)
      },
      ended() {
        timeline.ended()
        living.afterDeath()
      },
      broken: what => broken.push(`${where()}: ${what}`),
    },
  )
  const living: Living = {
    ...days,
    sim,
    lives,
    elsewhere,
    agenda,
    pace,
    timeline,
    folder,
    haste: deployments ? 15 : 1,
    now,
    broken,
    tally: new Tally(),
    byHand,
    passing,
    repeats,
    believedGone,
    begin() {
      lives.begin(pace.now)
      timeline.begun()
    },
    isOver: false,
    afterDeath: () => undefined,
  }
  try {
    living.begin()
    await pace.until(pace.now + 1000)
    await pace.through(lives.now.run('connectAccount', { baseUrl: sim.baseUrl, key: sim.apiKey }))
    const settings = { pollInterval: days.interval, rentalDeadline: 1800 }
    await pace.through(lives.now.run('changeSettings', { settings }))
    if (deployments) beginChanging(living, new Chance(seed, 'deployments'))
    beginWeather(living, new Chance(seed, 'weather'))
    beginUsing(living, new Chance(seed, 'user'))
    beginKilling(living, new Chance(seed, 'kills'))
    await pace.until(pace.now + Math.round(days.days * 86_400_000))
    living.isOver = true
    await finish(living)
    const lived = await judge(living)
    return { ...lived, figures: `${lived.figures}; in ${Math.round((performance.now() - since) / 1000)} s` }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const sofar = [...broken, ...passing.broken, ...repeats.broken, ...believedGone.broken].join('\n')
    throw new Error(`${where()}: ${why}\n${sofar}\n${living.tally}\n${again(days)}`, { cause })
  } finally {
    await lives.remove()
    await sim.close()
    open.close()
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
    await program.remove()
  }
}
