import { limitActions } from '#core/limits/decide.ts'
import type { LimitSnapshot } from '#core/limits/facts.ts'
import { createShownLimits } from '#core/limits/limit-view.ts'
import { type StoredLimit, withoutWarning } from '#core/limits/model.ts'
import { limitAfterActing, limitWarned } from '#core/limits/transitions.ts'
import { createStore } from '#core/storage/store.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { limitFacts } from '../unit/core/limits/stored-limit.ts'
import { accountView, emptyState, instanceView } from '../unit/views.ts'
import { median, type Row, type Size } from './row.ts'

const instances = 200
/** Seconds between two polls. */
const interval = 10
/** Milliseconds of a poll. */
const budget = 2
const now = 1_790_000_000

/**
 * The time limits take at each poll to decide and show, over 200 instances with five limits each and two on the
 * account. At each poll a few limits warn, a few act, and a tenth of the loads have changed.
 */
export async function limitRows({ smoke }: Size): Promise<Row[]> {
  const polls = smoke ? 10 : 200
  const ids = Array.from({ length: instances }, (_, index) => 100_000 + index)
  const store = createStore(emptyState())
  store.change(draft => {
    draft.accounts['a00000001'] = accountView({}, ...ids.map(id => instance(id, 0)))
  })
  let limits: readonly StoredLimit[] = [...ids.flatMap(limitsOn), ...limitsOnAccount]
  const shown = createShownLimits({
    store,
    account: 'a00000001',
    // Writing to disk is not measured here.
    limits: { all: () => limits },
    isActing: () => false,
  })
  const views = Object.fromEntries(ids.map(id => [id, instance(id, 0)]))
  const times: number[] = []
  const happened = { warn: 0, act: 0 }
  for (let poll = -1; poll < polls; poll += 1) {
    const at = now + poll * interval
    for (const id of ids) if ((id + poll) % 10 === 0) views[id] = instance(id, poll)
    const snapshot = sightAt(at, { ...views })
    const begin = performance.now()
    const decisions = limitActions(snapshot, limits, at)
    const changed = new Map<string, StoredLimit>()
    for (const decision of decisions) {
      const { limit, kind } = decision
      if (kind === 'warn') changed.set(limit.id, limitWarned(limit, decision.dueAt, at))
      else if (kind === 'act')
        changed.set(limit.id, limitAfterActing(limit, decision.targets, snapshot.facts, at))
      else changed.set(limit.id, kind === 'calm' ? withoutWarning(limit) : limit)
      if (kind === 'warn' || kind === 'act') happened[kind] += 1
    }
    if (changed.size > 0) limits = limits.map(limit => changed.get(limit.id) ?? limit)
    shown.show(snapshot.facts, at, at)
    // The first round shows all limits, as a start does, and does not count.
    if (poll >= 0) times.push(performance.now() - begin)
  }
  if (happened.warn < polls || happened.act < polls) throw new Error('nothing was due')
  const typical = median(times)
  return [
    {
      what: 'deciding and showing over 200 instances with 5 limits each, and 2 on the account',
      compared: `median of ${polls} polls with ${happened.warn} warnings and ${happened.act} acts, the slowest ${Math.max(...times).toFixed(1)} ms`,
      measured: `${typical.toFixed(2)} ms`,
      budget: `at most ${budget} ms`,
      kept: typical <= budget,
    },
  ]
}

function sightAt(at: number, views: Record<string, InstanceView>): LimitSnapshot {
  const spendPerHour = Object.values(views).reduce((sum, { costPerHour }) => sum + costPerHour, 0)
  return {
    facts: limitFacts(
      at,
      { credit: 5_000_000_000, instances: views, spendPerHour },
      {
        ...{ spentToday: 1_000_000, spentThisMonth: 9_000_000 },
        ...{ dayBegan: 0, monthBegan: 0, dayEnds: now + 50_000, monthEnds: now + 500_000 },
      },
    ),
    fresh: true,
    sure: true,
    seenAt: at - interval,
    gap: 600,
    acted: new Set(),
  }
}

function instance(id: number, poll: number): InstanceView {
  return instanceView({
    id,
    gpuLoad: (id * 7 + poll) % 100,
    diskPricePerHour: 2000,
    spent: { micros: 1_000_000, at: now, perHour: 400_000 },
    history: [{ at: now - 3600, state: 'running', actualStatus: 'running' }],
  })
}

/** The limits at a time become due one per poll. */
function limitsOn(id: number): StoredLimit[] {
  const conditions: StoredLimit['when'][] = [
    { kind: 'time', at: now + (id % instances) * interval },
    { kind: 'duration', seconds: 90_000 },
    { kind: 'idle', below: 5, seconds: 9000 },
    { kind: 'idle', below: 10, seconds: 90_000 },
    { kind: 'cost', dollars: 1000 },
  ]
  return conditions.map((when, index) => limitOf(id * 10 + index, when, id))
}

/** The limit on the credit is always nearly reached, so it chooses its targets at each poll. */
const limitsOnAccount = [
  limitOf(1, { kind: 'budget', per: 'day', dollars: 9000 }),
  limitOf(2, { kind: 'credit', hours: 12.4 }),
]

function limitOf(number: number, when: StoredLimit['when'], on?: number): StoredLimit {
  return {
    id: `g${String(number).padStart(16, '0')}`,
    when,
    action: 'stop',
    warning: 900,
    missed: 'act',
    asleep: false,
    setAt: now,
    history: [],
    ...(on === undefined ? {} : { instance: on }),
  }
}
