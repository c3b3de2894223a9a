import { expect, test } from 'vitest'
import { bootPlan, FLAKY, machineFate, machineRival } from '#simulator/world/instances/plan.ts'

const machines = Array.from({ length: 2000 }, (_, index) => 10_000 + index)

test('a machine has the same fate in the same world, in any order of calls', () => {
  const there = machines.map(id => machineFate(7, id, FLAKY))
  const back = machines.toReversed().map(id => machineFate(7, id, FLAKY))
  expect(back.toReversed()).toEqual(there)
  expect(machines.map(id => machineFate(8, id, FLAKY))).not.toEqual(there)
})

test('8 to 16% of the machines are flaky, in each of four ways', () => {
  const fates = machines.map(id => machineFate(7, id, FLAKY))
  const troubled = fates.filter(fate => fate.trouble)
  expect(troubled.length).toBeGreaterThan(machines.length * 0.08)
  expect(troubled.length).toBeLessThan(machines.length * 0.16)
  expect(new Set(troubled.map(fate => fate.trouble?.kind))).toEqual(
    new Set(['stuck', 'exited', 'offline', 'unknown']),
  )
})

test('a first boot goes through null and loading to running in 1 to 5 minutes', () => {
  for (const id of machines) {
    const plan = bootPlan(machineFate(7, id, 0), 'image', 0, 'first')
    const statuses = plan.map(step => ('status' in step ? step.status : 'rival'))
    expect(statuses.filter((status, index) => status !== statuses[index - 1])).toEqual([
      null,
      'loading',
      'running',
    ])
    const end = plan.at(-1)?.at ?? 0
    expect(end).toBeGreaterThanOrEqual(60_000)
    expect(end).toBeLessThanOrEqual(300_000)
    expect(plan.map(step => step.at)).toEqual(plan.map(step => step.at).toSorted((a, b) => a - b))
  }
})

test('rivals bid on some machines, above the lowest bid', () => {
  const rivals = machines.map(id => machineRival(7, id, 1)).filter(rival => rival !== null)
  expect(rivals.length).toBeGreaterThan(machines.length * 0.3)
  expect(rivals.length).toBeLessThan(machines.length * 0.5)
  expect(rivals.every(rival => rival.factor > 1 && rival.after > 0)).toBe(true)
})
