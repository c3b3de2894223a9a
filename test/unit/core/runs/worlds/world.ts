import { planCosts } from '#shared/project/plan-costs.ts'
import type { ProjectSpec } from '#shared/project/spec.ts'
import { isDaily } from '#shared/project/start-time.ts'
import { HandClock } from '#test/berth/clocks.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { type Berth, type Computer, startBerth } from './berth.ts'
import { LyingService } from './service.ts'

/** Draws from 0 to 1, always the same ones for a seed. */
export function drawsOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** What a world charged, and what it may have: amounts in micro-dollars. */
export interface Outcome {
  charged: number
  most: number
  /**
   * The most that was charged between two polls that Berth could act on, once while something ran and once for what is
   * kept after its end; and all that was charged between two of which the second saw a machine run, or a price risen,
   * since an unknown moment.
   */
  poll: number
  /** Instances left. */
  left: number
  /** How often its user moved a run. */
  moved: number
  /** How its runs ended. */
  ends: ReturnType<Berth['ends']>
  /** What happened, for a failure's message. */
  story: string[]
}

/** Seconds between polls: while something runs, once everything is stopped, and once that has lasted. */
const pauses = { busy: 120, quiet: 3600, long: 86_400 }

/** Lets a project run in a world whose service lies, while its computer sleeps and Berth is killed, until nothing is left. */
export async function live(seed: number): Promise<Outcome> {
  const draw = drawsOf(seed)
  const chance = (share: number) => draw() < share
  const between = (least: number, most: number) => least + draw() * (most - least)
  const story: string[] = []
  const clock = new HandClock()
  const service = new LyingService(clock, draw, story)
  const computer: Computer = {
    clock,
    files: new MemoryFiles(),
    keychain: new Map(),
    service,
    ids: { count: 0 },
    seen: { instances: {} },
  }
  let berth: Berth = await startBerth(computer)
  await berth.poll()

  // Drawn apart, so that all else of a seed's world stays as it is.
  const userDraws = drawsOf(seed + 0x5eed)
  const start = userDraws() < 0.15 ? (userDraws() < 0.5 ? '02:00' : 'daily 02:00') : undefined
  const moves = userDraws() < 0.6
  const { most, spec } = await begun(seed, berth, { clock, draw, story, start })
  service.honest = false
  let charged = service.charged()
  const polls = { running: 0, kept: 0 }
  let unseen = 0
  let running = 0
  let hasHappened = false
  let moved = 0
  /** Counts what was charged since the last poll. */
  function count(amount: number): void {
    const at = running > 0 ? 'running' : 'kept'
    polls[at] = Math.max(polls[at], amount)
  }
  async function pollAfter(seconds: number): Promise<void> {
    await clock.pass(seconds * 1000)
    if (!(await berth.poll())) return
    const now = service.charged()
    count(now - charged)
    if (service.running() > running || hasHappened) unseen += now - charged
    running = service.running()
    hasHappened = false
    charged = now
  }
  const isOver = () => service.left() === 0 && berth.isOver()
  for (let step = 0; step < 250 && !(step > 5 && isOver()); step += 1) {
    if (chance(0.05)) {
      service.happen()
      hasHappened = true
    }
    // Often enough while its command runs, so that machines are left.
    if (spec?.outbid && chance(0.08) && service.outbid()) hasHappened = true
    if (moves && userDraws() < 0.15 && (await clock.runUntil(berth.move()))) {
      story.push('moved')
      moved += 1
    }
    if (chance(0.02)) {
      story.push('killed')
      berth.kill()
      berth = await startBerth(computer)
    }
    if (chance(0.02)) {
      const seconds = between(600, 8 * 3600)
      story.push(`slept ${Math.round(seconds)} s`)
      clock.sleep(seconds * 1000)
    }
    await pollAfter(service.isQuiet() ? pauses.quiet : pauses.busy)
  }
  const ends = berth.ends()
  const days = spec?.start === undefined ? 1 : Math.max(1, berth.days())
  if (isDaily(spec?.start)) await clock.runUntil(berth.cancelAll())
  service.honest = true
  for (let day = 0; day < 3000 && !isOver(); day += 1) await pollAfter(pauses.long)
  // What ended without an answer to a poll, as a limit does that acts by the clock.
  count(service.charged() - charged)
  return {
    charged: service.charged(),
    most: most * days,
    poll: polls.running + polls.kept + unseen,
    left: service.left(),
    moved,
    ends,
    story,
  }
}

/** Begins what is to cost at most so much: a run of a project, or at times a rental by hand. */
async function begun(
  seed: number,
  berth: Berth,
  {
    clock,
    draw,
    story,
    start,
  }: { clock: HandClock; draw: () => number; story: string[]; start: string | undefined },
): Promise<{ most: number; spec?: ProjectSpec }> {
  if (seed % 5 === 0) {
    const seconds = 1800 + Math.floor(draw() * 8) * 3600
    const most = await clock.runUntil(berth.rentByHand(seconds))
    story.push(`rented by hand for ${seconds} s, at most ${most}`)
    return { most }
  }
  const { before_stop, ...drawn } = specFor(draw)
  const isAlone = drawn.runs === undefined && drawn.nodes === undefined
  const others = { ...drawn, ...(start !== undefined && isAlone && { start }) }
  const planOf = (one: ProjectSpec) => clock.runUntil(berth.projectRuns.plan('p0000000000000001', one))
  const whole = { ...others, ...(before_stop && { before_stop }) }
  // Some limits are too low for what happens before a stop, which is refused.
  const planned = await planOf(whole).then(
    plan => ({ spec: whole, plan }),
    async (error: unknown) => {
      if (!before_stop) throw error
      return { spec: others, plan: await planOf(others) }
    },
  )
  const { spec, plan } = planned
  const costs = planCosts({ ...plan, spec } as Parameters<typeof planCosts>[0])
  if (costs?.most === undefined) throw new Error(`seed ${seed}: the plan has no maximum`)
  const { most, keptCost, volumeCost, leftCost } = costs
  const { limits, pricePerHour: price } = plan
  const terms = { text: '', spec, limits, price, most, keptCost, volumeCost, leftCost, secretFiles: [] }
  story.push(JSON.stringify({ spec, most, price }))
  await clock.runUntil(berth.projectRuns.start({ project: 'p0000000000000001', ...terms }))
  return { most, spec }
}

function specFor(draw: () => number): ProjectSpec {
  const pick = <Item>(...items: Item[]): Item => items[Math.floor(draw() * items.length)] as Item
  const interruptible = draw() < 0.3
  const stop = pick<ProjectSpec['stop']>(
    { dollars: 0.02 },
    { dollars: 0.2 },
    { hours: 0.5 },
    { hours: 2 },
    { hours: 1, dollars: 0.3 },
  )
  const failed = pick<ProjectSpec['failed']>(
    undefined,
    { keep: 3600 },
    { keep: 6 * 3600, afterwards: 'destroy' },
    { keep: 200 * 3600, afterwards: 'destroy' },
    { keep: 3000 * 3600 },
  )
  const kind = draw()
  const many = kind < 0.3 ? { runs: pick(2, 3), at_once: pick(1, 2) } : {}
  const together =
    kind > 0.75
      ? {
          nodes: pick(2, 3),
          engine: 'none' as const,
          outbid: undefined,
          wait: undefined,
          before_stop: undefined,
          retry: undefined,
        }
      : {}
  return {
    run: 'train',
    disk: pick(10, 100, 400),
    stop,
    failed,
    machine: { verified: false, reliability: 1, interruptible, ...(interruptible && { price: 2 }) },
    ...(interruptible && { outbid: { elsewhere: pick(0, 2, 3) }, wait: pick(1800, 8 * 3600) }),
    // Those of a sweep go into a folder, of which there is none here.
    ...(kind >= 0.3 && (interruptible || draw() < 0.5) && { results: 'out' }),
    ...(draw() < 0.4 && { before_stop: { at_most: pick(60, 600) } }),
    ...(draw() < 0.4 && { retry: { times: 2, on: 'error' as const } }),
    ...many,
    ...together,
  }
}
