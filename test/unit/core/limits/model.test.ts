import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { InstanceView } from '#contract/instance/instance.ts'
import type { Problem } from '#contract/problem.ts'
import {
  limitAfterActing,
  limitHeld,
  limitMissed,
  limitOver,
  limitWarned,
} from '#core/limits/act/outcomes.ts'
import type { LimitTarget } from '#core/limits/decide/choose-targets.ts'
import { limitActions } from '#core/limits/decide/limit-actions.ts'
import { dueOf } from '#core/limits/decide/moment.ts'
import type { Facts, LimitSnapshot } from '#core/limits/facts/facts.ts'
import { type Limit, withoutWarning } from '#core/limits/model.ts'
import { instanceView } from '#test/unit/views.ts'
import { dayEnds, type Event, event, instances, limits } from './histories.ts'
import { type Fate, type PlainInstance, PlainLimit, rateOf, type Said, type Seen } from './plain-model.ts'
import { start, World } from './plain-world.ts'

const endless = Number.MAX_SAFE_INTEGER

function viewOf(one: PlainInstance, at: number): InstanceView {
  const perHour = rateOf(one) * 3600
  return instanceView({
    id: one.id,
    state: one.running ? 'running' : one.stopping ? 'stopping' : 'stopped',
    gpuLoad: one.load,
    costPerHour: perHour,
    diskPricePerHour: one.diskPerSecond * 3600,
    spent: { micros: one.spent, at, perHour },
    history: [{ at: one.since, state: 'running', actualStatus: 'running' }],
  })
}

function factsOf({ at, creditReadAt, credit, today, month, dayBegan, dayEnds, instances: all }: Seen): Facts {
  const views = all.map(one => viewOf(one, at))
  const spendPerHour = views.reduce((sum, { costPerHour }) => sum + costPerHour, 0)
  return {
    at,
    account: {
      credit,
      ...(creditReadAt < at ? { creditAt: creditReadAt } : {}),
      instances: Object.fromEntries(views.map(view => [view.id, view])),
      spendPerHour,
    },
    spentToday: today,
    spentThisMonth: month,
    observedPerHour: 0,
    countedAt: creditReadAt,
    dayBegan,
    monthBegan: 0,
    dayEnds,
    monthEnds: endless,
    loads: new Map(),
  }
}

/** A limit driven by Berth’s own decisions and outcomes. */
class RealLimit {
  limit: Limit
  #facts: Facts
  #seenAt: number | undefined

  constructor(limit: Limit) {
    this.limit = limit
    this.#facts = factsOf({
      at: start,
      creditReadAt: start,
      credit: 0,
      today: 0,
      month: 0,
      dayBegan: 0,
      dayEnds: endless,
      instances: [],
    })
  }

  snooze(now: number, minutes: number): void {
    if (this.limit.ended) return
    const due = dueOf(withoutWarning(this.limit), this.#facts)
    this.limit = { ...withoutWarning(this.limit), snoozedUntil: Math.max(now, due ?? now) + minutes * 60 }
  }

  poll(now: number, answer: Seen | undefined, fate: Fate): Said | undefined {
    if (answer) this.#facts = factsOf(answer)
    const snapshot: LimitSnapshot = {
      facts: this.#facts,
      fresh: answer !== undefined,
      sure: true,
      seenAt: this.#seenAt,
      gap: 600,
      acted: new Set(),
    }
    const [decision] = limitActions(snapshot, [this.limit], now)
    if (answer) this.#seenAt = now
    if (!decision) return undefined
    const { limit } = decision
    switch (decision.kind) {
      case 'note':
        this.limit = limit
        return undefined
      case 'calm':
        this.limit = withoutWarning(limit)
        return undefined
      case 'warn':
        this.limit = limitWarned(limit, decision.dueAt, now)
        return 'warn'
      case 'hold':
        this.limit = limitHeld(limit, decision, now)
        return 'hold'
      case 'missed':
        this.limit = limitMissed(limit, decision.dueAt, now)
        return 'missed'
      case 'over':
        this.limit = limitOver(limit, now, '')
        return 'over'
      case 'act':
        this.limit = this.#acted({ ...limit, begunAt: now }, decision.targets, now, fate)
        return `act ${decision.targets.map(({ action, instance }) => `${action} ${instance}`).join(' ')}`
      default:
        throw new Error(`the history has no ${decision.kind}`)
    }
  }

  /** After a kill, the disk says that it began. */
  #acted(limit: Limit, targets: readonly LimitTarget[], now: number, fate: Fate): Limit {
    if (fate === 'killed') return limit
    const out = fate === 'done' ? { done: targets } : { done: [], problem: refusal }
    return limitAfterActing(limit, out, this.#facts, now)
  }
}

const refusal: Problem = { code: 'server_error', message: 'No.' }

/** Plays a history to both limits. Gives what each said at each poll. */
function play(
  limit: Limit,
  all: readonly PlainInstance[],
  history: readonly Event[],
  dayEnds: number,
): { plain: string[]; real: string[] } {
  const world = new World(all, dayEnds)
  const plain = new PlainLimit(limit)
  const real = new RealLimit(limit)
  const told = { plain: [] as string[], real: [] as string[] }
  // Berth polled the instance before a limit was set.
  for (const happens of [{ kind: 'poll', wait: 0, answers: true } as const, ...history]) {
    if (happens.kind === 'load')
      for (const one of world.all) if (one.id === happens.id) one.load = happens.load
    if (happens.kind === 'start')
      for (const one of world.all)
        if (one.id === happens.id && !one.running && !one.stopping)
          Object.assign(one, { running: true, since: world.now })
    if (happens.kind === 'end') for (const one of world.all) if (one.id === happens.id) one.stopping = false
    if (happens.kind === 'fate') world.fates.push(...happens.of)
    if (happens.kind === 'tells') world.tells = happens.credit
    if (happens.kind === 'topUp') world.credit = happens.credit
    if (happens.kind === 'snooze') {
      plain.snooze(world.now, happens.minutes)
      real.snooze(world.now, happens.minutes)
    }
    if (happens.kind !== 'poll' && happens.kind !== 'sleep') continue
    world.pass(happens.wait)
    // A missing instance ends the history: the model does not cover its limit.
    if (limit.instance !== undefined && !world.all.some(one => one.id === limit.instance)) break
    const answer = happens.kind === 'sleep' || happens.answers ? world.seen() : undefined
    const [fate = 'done'] = world.fates
    const said = plain.poll(world.now, answer, fate)
    told.plain.push(`${world.now} ${said} ${fate}`)
    told.real.push(`${world.now} ${real.poll(world.now, answer, fate)} ${fate}`)
    if (!said?.startsWith('act')) continue
    world.fates.shift()
    if (fate === 'done') world.act(said)
  }
  return told
}

test('over thousands of histories limits act as the plain model does', () => {
  const said = new Map<string, number>()
  fc.assert(
    fc.property(
      limits,
      instances,
      fc.array(event, { minLength: 5, maxLength: 60 }),
      dayEnds,
      (limit, all, history, ends) => {
        const { plain, real } = play(limit, all, history, ends)
        for (const line of plain) {
          const words = line.split(' ')
          const word = `${limit.condition.kind} ${words[1]} ${words.at(-1)}`
          said.set(word, (said.get(word) ?? 0) + 1)
        }
        expect(real).toEqual(plain)
      },
    ),
    { numRuns: 4000 },
  )
  // The histories cover all kinds, warnings, outages, sleeps, refusals and kills.
  const times = (word: RegExp) =>
    [...said].reduce((sum, [key, count]) => sum + (word.test(key) ? count : 0), 0)
  for (const kind of ['time', 'duration', 'idle', 'cost', 'budget', 'credit'])
    expect(times(new RegExp(`^${kind} act done`))).toBeGreaterThan(0)
  for (const word of [/ warn/, / hold/, / missed/, / over/, / act refused/, / act killed/])
    expect(times(word)).toBeGreaterThan(0)
})
