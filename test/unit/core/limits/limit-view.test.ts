import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SshLoads } from '#core/limits/facts.ts'
import { createShownLimits } from '#core/limits/limit-view.ts'
import type { StoredLimit } from '#core/limits/model.ts'
import { createStore } from '#core/storage/store.ts'
import type { LimitView } from '#shared/automation/limit.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { accountView, emptyState, instanceView } from '#test/unit/views.ts'
import { limitFacts, storedLimit } from './stored-limit.ts'

const start = 1_790_000_000
const account = 'a00000001'
const ids = [7, 8, 9]

/** An account, its limits, and their views in State. */
class Shown {
  at = start
  added = 0
  limits: readonly StoredLimit[] = [
    ...ids.flatMap((id, index): StoredLimit[] => [
      limit(index * 3, id, { kind: 'time', at: start + 2000 * (index + 1) }),
      limit(index * 3 + 1, id, { kind: 'idle', below: 5, seconds: 1800 }),
      limit(index * 3 + 2, id, { kind: 'cost', dollars: 2 }),
    ]),
    limit(20, undefined, { kind: 'credit', hours: 2 }),
  ]
  instances: Record<string, InstanceView> = Object.fromEntries(ids.map(id => [id, instanceView({ id })]))
  busy = new Set<string>()
  loads = new Map<number, { load: number; at: number }>()
  readonly store = createStore(emptyState())
  readonly shown = this.open(this.store)

  constructor() {
    this.store.change(draft => {
      draft.accounts[account] = accountView({})
    })
  }

  open(store: ReturnType<typeof createStore>) {
    return createShownLimits({
      store,
      account,
      isActing: id => this.busy.has(id),
      limits: { all: () => this.limits },
    })
  }

  change(which: number, to: (limit: StoredLimit) => StoredLimit): void {
    this.limits = this.limits.map((each, index) => (index === which % this.limits.length ? to(each) : each))
  }

  see(which: number, change: Partial<InstanceView>): void {
    const id = ids[which % ids.length] ?? 0
    const before = this.instances[id]
    if (before) this.instances = { ...this.instances, [id]: { ...before, ...change } }
  }

  /** The views after this poll, updated and made from scratch. */
  poll(): [Views, Views] {
    const seen = { credit: 3_000_000, instances: this.instances, spendPerHour: 1_000_000 }
    const facts = limitFacts(this.at, seen, { loads: this.loads as SshLoads })
    this.shown.show(facts, this.at, this.at)
    const anew = createStore(this.store.get())
    anew.change(draft => {
      draft.accounts[account] = accountView({})
    })
    const fresh = this.open(anew)
    fresh.show(facts, this.at, this.at)
    return [
      { views: this.store.get().accounts[account]?.limits ?? {}, next: this.shown.next() },
      { views: anew.get().accounts[account]?.limits ?? {}, next: fresh.next() },
    ]
  }
}
interface Views {
  views: Readonly<Record<string, LimitView>>
  next: number | undefined
}

function limit(number: number, instance: number | undefined, when: StoredLimit['when']): StoredLimit {
  const id = `g${String(number).padStart(16, '0')}`
  return storedLimit({ id, instance, when, warning: 900, setAt: start })
}

const what = fc.nat(9)
const step: fc.Arbitrary<(shown: Shown) => void> = fc.oneof(
  fc.integer({ min: -600, max: 3000 }).map(by => (s: Shown) => {
    s.at += by
  }),
  what.map(n => (s: Shown) => s.see(n, { label: `renamed-${n}` })),
  what.map(n => (s: Shown) => s.see(n, { state: 'stopped', costPerHour: 0 })),
  what.map(n => (s: Shown) => s.see(n, { state: 'running', gpuLoad: n })),
  what.map(n => (s: Shown) => s.see(n, { spent: { micros: n * 300_000, at: s.at, perHour: 500_000 } })),
  what.map(n => (s: Shown) => {
    const { gpuLoad: _, ...creditStaleSince } = s.instances[ids[n % 3] ?? 0] ?? instanceView({ id: 7 })
    s.instances = { ...s.instances, [creditStaleSince.id]: creditStaleSince }
  }),
  what.map(n => (s: Shown) => void s.loads.set(ids[n % 3] ?? 0, { load: 1, at: s.at })),
  fc.constant((s: Shown) => s.loads.clear()),
  what.map(n => (s: Shown) => s.change(n, each => ({ ...each, snoozedUntil: s.at + 900 }))),
  what.map(n => (s: Shown) => s.change(n, each => ({ ...each, idleSince: s.at }))),
  what.map(n => (s: Shown) => s.change(n, each => ({ ...each, warnedAt: s.at }))),
  what.map(n => (s: Shown) => s.change(n, each => ({ ...each, ended: 'done' as const }))),
  what.map(n => (s: Shown) => {
    const { id } = s.limits[n % s.limits.length] ?? { id: '' }
    if (!s.busy.delete(id)) s.busy.add(id)
  }),
  what.map(n => (s: Shown) => {
    if (s.limits.length > 2) s.limits = s.limits.filter((_, index) => index !== n)
  }),
  what.map(n => (s: Shown) => {
    // A counter keeps ids unique after removals.
    s.added += 1
    s.limits = [...s.limits, limit(100 + s.added, ids[n % 3], { kind: 'time', at: s.at + 500 })]
  }),
)

test('limit views updated poll by poll equal views made from scratch', () => {
  fc.assert(
    fc.property(fc.array(fc.array(step, { maxLength: 3 }), { maxLength: 14 }), polls => {
      const shown = new Shown()
      for (const steps of [[], ...polls]) {
        for (const take of steps) take(shown)
        const [kept, anew] = shown.poll()
        // A due time that moved by seconds is not rewritten, and the sentence keeps the older one too.
        const said = ({ views }: Views) =>
          Object.values(views).map(({ dueAt, sentence, ...view }) => ({
            ...view,
            does: sentence.split('#')[0],
            due: dueAt !== undefined,
          }))
        expect(said(kept)).toEqual(said(anew))
        for (const [id, { dueAt = 0 }] of Object.entries(anew.views))
          expect(Math.abs((kept.views[id]?.dueAt ?? 0) - dueAt)).toBeLessThan(32)
        expect(kept.next ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(
          anew.next ?? Number.POSITIVE_INFINITY,
        )
      }
    }),
    { numRuns: 80 },
  )
})
