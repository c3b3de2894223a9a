import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openMissingInstances } from '#core/instances/missing-instances.ts'
import { compareInstances, type KnownRecords } from '#core/instances/reconcile.ts'
import { failed, seenMachine } from '#core/runs/changes.ts'
import { nextRunMove } from '#core/runs/decide.ts'
import { machineGone } from '#core/runs/messages.ts'
import { mostInAll, type ProjectRun, runCostBy } from '#core/runs/model.ts'
import { createSweepLimits } from '#core/sweeps/limits.ts'
import { type Sweep, sweepCost, sweepMostInAll } from '#core/sweeps/record.ts'
import { spentBy } from '#shared/derived.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { accountContext, freshAnswer } from '#test/berth/account-context.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { instanceView } from '#test/unit/views.ts'
import { projectRun } from './stored-run.ts'

const prices = { running: 3_600_000, stopped: 36_000 }
type Seen = keyof typeof prices | 'gone'
interface Poll {
  seen: Seen
  /** Seconds since the poll before. */
  after: number
}

const polls = fc.array(
  fc.record({
    seen: fc.constantFrom<Seen>('running', 'stopped', 'gone', 'gone'),
    after: fc.integer({ min: 1, max: 40_000 }),
  }),
  { minLength: 2, maxLength: 12 },
)

/** Instance 7 as Berth counts it, poll by poll; it is gone in the polls that lack it. */
async function follow() {
  const context = accountContext({ files: new MemoryFiles() })
  const nothing = () => undefined
  const hooks = { onAway: nothing, onVanished: nothing, onReturned: nothing, onGone: nothing }
  const missing = await openMissingInstances(context, hooks)
  const known: KnownRecords = new Map()
  let shown: Record<string, InstanceView> = {}
  return (seen: Seen, at: number): InstanceView | undefined => {
    const state = { actual_status: seen === 'running' ? 'running' : 'exited', intended_status: seen }
    const record = { id: 7, ...state, dph_total: 3.6, dph_base: 3.564, start_date: 0 }
    const instances = seen === 'gone' ? [] : [record]
    const { changed, gone } = compareInstances(
      known,
      shown,
      { instances, unconfirmed: [] },
      at,
      missing.lastView,
    )
    missing.onPoll({ shown, gone, there: instances, pollsMissing: () => 1, isDestroyed: () => false, at })
    shown = { ...shown, ...Object.fromEntries(changed) }
    for (const id of gone) delete shown[id]
    return shown[7]
  }
}

test('time for which polls lacked a machine counts as time that it ran only where it runs again', async () => {
  const history = async (events: readonly Poll[]) => {
    const see = await follow()
    see('running', 0)
    let [at, last, counted]: [number, keyof typeof prices, number] = [0, 'running', 0]
    let goneSince: number | undefined
    for (const { seen, after } of events) {
      if (goneSince === undefined) counted += after * prices[last]
      at += after
      const view = see(seen, at)
      if (seen === 'gone') goneSince ??= at
      else {
        const price = seen === 'running' ? prices[last] : prices.stopped
        if (goneSince !== undefined) counted += (at - goneSince) * price
        goneSince = undefined
        last = seen
        expect(spentBy(view as InstanceView, at)).toBe(counted / 3600)
      }
    }
  }
  await fc.assert(fc.asyncProperty(polls, history))
})

test('a machine that returns keeps its files for the time and the money agreed on, whatever its absence cost', async () => {
  const keeping = { seconds: 86_400, destroys: true }
  const keptCost = 864_000
  let returned = 0
  const history = async (events: readonly Poll[]) => {
    const see = await follow()
    const spent = { ...(see('running', 0) as InstanceView).spent }
    let run: ProjectRun = projectRun({ instance: 7, spent, most: 7_200_000, project: { keptCost, keeping } })
    see('gone', 60)
    run = { ...run, ...failed(run, machineGone, 60) } as ProjectRun
    let at = 60
    let first: { at: number; cost: number } | undefined
    for (const { seen, after } of events) {
      at += after
      const view = see(seen, at)
      run = { ...run, ...seenMachine(run, view, { isGone: !view, at }) } as ProjectRun
      // What nobody sees costs nothing here.
      if (!view) expect(runCostBy(run, at + 86_400)).toBe(runCostBy(run, at))
      if (view) first ??= { at, cost: runCostBy(run, at) }
      const isSpent = runCostBy(run, at) >= (mostInAll(run) ?? 0)
      const move = nextRunMove(run, {
        awaited: undefined,
        instance: view ?? 'gone',
        limit: undefined,
        isSpent,
        now: at,
      })
      if (move.do !== 'expire' || !move.destroys) continue
      returned += 1
      const { at: since, cost } = first as { at: number; cost: number }
      expect(at - since >= keeping.seconds || runCostBy(run, at) - cost >= keptCost).toBe(true)
      return
    }
  }
  await fc.assert(fc.asyncProperty(polls, history))
  expect(returned).toBeGreaterThan(0)
})

test('what a machine of a sweep has cost while it was gone takes no time from the files of the others', () => {
  const context = accountContext()
  const id = 'q0000000000000001'
  const own = [projectRun({ step: 'failed', instance: 7, sweep: { id, index: 0, attempt: 0 } })]
  let sweep = {
    id,
    step: 'over',
    atOnce: 1,
    since: { at: 0, micros: 0, failed: 0 },
    project: {
      ...own[0]?.project,
      limits: [{ when: { kind: 'cost', dollars: 1 }, action: 'stop' }],
      keptCost: 500_000,
    },
    machines: { 7: { micros: 0, at: 0, perHour: 3_600_000 } },
    attemptCost: 0,
  } as unknown as Sweep
  const none = { all: () => [] } as never
  const putSoon = (after: Sweep) => {
    sweep = after
  }
  const limits = createSweepLimits(context, {
    stored: { find: () => sweep, putSoon },
    terms: { runsOf: () => own },
    waiting: none,
    limits: none,
    watchdogs: none,
    departures: { machinesOf: () => [] },
  })
  const left = (at: number) => (sweepMostInAll(sweep) ?? 0) - sweepCost(sweep, own, at)
  limits.observe(sweep, freshAnswer(context, {}, [], 60))
  expect(left(7200)).toBe(1_440_000)
  const spent = { micros: 7_200_000, at: 7200, perHour: 3_600_000 }
  limits.observe(sweep, freshAnswer(context, { 7: instanceView({ id: 7, spent }) }, [], 7200))
  expect(left(7200)).toBe(500_000)
})

test('a machine is told as back where it was told as gone, once each, also after a restart', async () => {
  const told: string[] = []
  const files = new MemoryFiles()
  const open = () =>
    openMissingInstances(accountContext({ files }), {
      onAway: () => undefined,
      onVanished: () => void told.push('gone'),
      onReturned: () => void told.push('back'),
      onGone: () => undefined,
    })
  let missing = await open()
  const view = instanceView({ id: 7 })
  const poll = (isThere: boolean, inARow: number) =>
    missing.onPoll({
      shown: { 7: view },
      gone: isThere ? [] : [7],
      there: isThere ? [{ id: 7 }] : [],
      pollsMissing: () => inARow,
      isDestroyed: () => false,
      at: 1000,
    })
  poll(false, 1)
  poll(true, 0)
  expect(told).toEqual([])
  poll(false, 1)
  poll(false, 2)
  poll(false, 3)
  await missing.flush()
  missing = await open()
  poll(true, 0)
  poll(true, 0)
  expect(told).toEqual(['gone', 'back'])
})
