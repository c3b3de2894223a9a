import { expect, test } from 'vitest'
import type { LimitScene } from '#core/limits/alerts.ts'
import { transitionsOf } from '#core/limits/transitions.ts'
import type { SweepView } from '#shared/automation/sweep.ts'
import { timeOfDay } from '#shared/format/time.ts'
import { instanceView } from '#test/unit/views.ts'
import { storedLimit } from './stored-limit.ts'

const now = 1_800_000_000
const dueAt = now + 900
const sweep: SweepView = {
  id: 'q0000000000000001',
  name: 'digits',
  project: 'p1',
  settings: [],
  attempts: [],
  atOnce: 6,
  results: 'sweeps/1',
  step: 'going',
  createdAt: now - 900,
  cost: { micros: 0, at: now, perHour: 0 },
  agreed: {},
  limit: { seconds: 1800 },
}
const limitOf = (instance: number, at = dueAt) =>
  storedLimit({
    id: `g${String(instance).padStart(16, '0')}`,
    instance,
    when: { kind: 'time', at },
    warning: 900,
  })
const warnOf = (instance: number) => ({ kind: 'warn', limit: limitOf(instance), dueAt, targets: [] }) as const

function told(sweepOf: LimitScene['sweepOf']) {
  const instances = Object.fromEntries([1, 2, 3, 4].map(id => [id, instanceView({ id, label: `run ${id}` })]))
  // The third one's moment is a minute later, the fourth's an hour.
  const limits = [limitOf(1), limitOf(2), limitOf(3, dueAt + 60), limitOf(4, dueAt + 3600)]
  return transitionsOf([warnOf(1), warnOf(2)], limits, { account: 'a00000001', instances, now, sweepOf })
}

test('the machines of a sweep that stop at about the same moment are one warning, with the limit of the sweep', () => {
  const transitions = told(() => sweep)
  expect(transitions.map(({ limit }) => [limit.instance, limit.warnedAt])).toEqual([
    [1, now],
    [2, now],
    [3, now],
  ])
  const alerts = transitions.flatMap(({ alert }) => alert ?? [])
  expect(alerts).toMatchObject([
    {
      id: 'a00000001/group/q0000000000000001',
      title: `digits: 3 machines stop at ${timeOfDay(dueAt)}`,
      body: expect.stringContaining('Its limit: 30 min.'),
      actions: [{ label: 'Show' }],
      place: { screen: 'projects', project: 'p1', entry: sweep.id },
    },
  ])
})

test('machines of no sweep are warned of each', () => {
  const alerts = told(() => undefined).flatMap(({ alert }) => alert?.title ?? [])
  expect(alerts).toEqual([1, 2].map(id => expect.stringContaining(`run ${id}`)))
})
