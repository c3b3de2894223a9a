import type { InstanceView } from '../../electron/contract/instance/instance.ts'
import { guardActions, type Sight } from '../../electron/core/guards/decide/guard-actions.ts'
import type { Guard } from '../../electron/core/guards/guard.ts'
import { median, type Row } from './row.ts'

const instances = 1000
const polls = 200
const budget = 5
const now = 1_790_000_000

/** What it costs to decide, at each poll, over a thousand instances with five guards each. */
export async function guardRows(): Promise<Row[]> {
  const views = Object.fromEntries(
    Array.from({ length: instances }, (_, index) => [100_000 + index, instance(100_000 + index)]),
  )
  let guards = Object.values(views).flatMap(({ id }) => guardsOn(id))
  const times: number[] = []
  for (let poll = 0; poll < polls; poll += 1) {
    const at = now + poll * 10
    const sight: Sight = {
      facts: {
        at,
        account: { credit: 5_000_000_000, instances: views },
        spentToday: 1_000_000,
        spentThisMonth: 9_000_000,
        dayEnds: now + 50_000,
        monthEnds: now + 500_000,
        loads: new Map(),
      },
      fresh: true,
      sure: true,
      seenAt: at - 10,
      gap: 600,
      acted: new Set(),
    }
    const begin = performance.now()
    const decisions = guardActions(sight, guards, at)
    times.push(performance.now() - begin)
    const noted = new Map(decisions.map(({ guard }) => [guard.id, guard]))
    if (noted.size > 0) guards = guards.map(guard => noted.get(guard.id) ?? guard)
  }
  const typical = median(times)
  return [
    {
      what: 'deciding over 1,000 instances with 5 guards each',
      compared: `median of ${polls} polls, the slowest ${Math.max(...times).toFixed(1)} ms`,
      measured: `${typical.toFixed(2)} ms`,
      budget: `at most ${budget} ms`,
      kept: typical <= budget,
    },
  ]
}

function instance(id: number): InstanceView {
  return {
    id,
    state: 'running',
    actualStatus: 'running',
    interruptible: false,
    gpuLoad: id % 100,
    costPerHour: 400_000,
    diskPricePerHour: 2000,
    spent: { micros: 1_000_000, at: now, perHour: 400_000 },
    ports: [],
    jupyter: false,
    history: [{ at: now - 3600, state: 'running', actualStatus: 'running' }],
  }
}

function guardsOn(id: number): Guard[] {
  const conditions: Guard['condition'][] = [
    { kind: 'time', at: now + 90_000 },
    { kind: 'duration', from: now, seconds: 90_000 },
    { kind: 'idle', below: 5, seconds: 9000 },
    { kind: 'idle', below: 10, seconds: 90_000 },
    { kind: 'cost', limit: 1_000_000_000 },
  ]
  return conditions.map((condition, index) => ({
    id: `g${String(id * 10 + index).padStart(16, '0')}`,
    instance: id,
    condition,
    action: 'stop',
    warning: 900,
    missed: 'act',
    setAt: now,
    history: [],
  }))
}
