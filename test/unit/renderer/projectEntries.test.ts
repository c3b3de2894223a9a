import { expect, test } from 'vitest'
import { runState } from '#renderer/features/runs/runWords.ts'
import { entryPath, projectEntries, strayEntries } from '#renderer/screens/projects/projectEntries.ts'
import type { ProjectRunView } from '#shared/automation/run.ts'
import type { SweepView } from '#shared/automation/sweep.ts'
import { beforeRentingWords, type Waiting } from '#shared/automation/waiting.ts'
import type { ProjectView } from '#shared/project/project.ts'
import { accountView, byId, projectRunView } from '../views.ts'

const project = (id: string, name: string): ProjectView => ({ id, name, folder: `~/${name}`, problems: [] })
const run = (id: string, createdAt: number, given: Partial<ProjectRunView> = {}) =>
  projectRunView({ id, project: 'p1', createdAt, step: 'done', ...given })
const projects = [project('p1', 'llama'), project('p2', 'eval')]
const idsOf = (account: Parameters<typeof accountView>[0], opened?: string) =>
  projectEntries(projects, accountView(account), { opened, now: 0 }).map(({ id }) => id)

test('projects come by name, each followed by its newest runs', () => {
  const runs = byId([run('a', 1), run('b', 4), run('c', 3), run('d', 2)])
  expect(idsOf({ runs })).toEqual(['p2', 'p1', 'b', 'c', 'd'])
})

test('an earlier run is listed while it is under way, failed or opened', () => {
  const runs = byId([
    run('going', 1, { step: 'running' }),
    run('failed', 2, { step: 'failed' }),
    run('old', 3),
    run('x', 4),
    run('y', 5),
    run('z', 6),
  ])
  expect(idsOf({ runs })).toEqual(['p2', 'p1', 'z', 'y', 'x', 'failed', 'going'])
  expect(idsOf({ runs }, 'old')).toEqual(['p2', 'p1', 'z', 'y', 'x', 'old', 'failed', 'going'])
})

test('the runs of a sweep are listed as the sweep, counted with the project, and cost what the sweep says', () => {
  // More than its runs: a machine waited for the next one.
  const sweep = {
    cost: { micros: 2_500_000, at: 0, perHour: 0 },
    id: 's1',
    project: 'p1',
    createdAt: 9,
    step: 'over',
    settings: [{}, {}],
  } as unknown as SweepView
  const cost = { micros: 1_000_000, at: 0, perHour: 0 }
  const runs = byId([
    run('a', 10, { sweep: { id: 's1', index: 0, attempt: 0 } as ProjectRunView['sweep'], cost }),
    run('b', 11, { sweep: { id: 's1', index: 1, attempt: 0 } as ProjectRunView['sweep'], cost }),
    run('c', 12, { cost }),
  ])
  const entries = projectEntries(projects, accountView({ runs, sweeps: byId([sweep]) }), {
    opened: undefined,
    now: 0,
  })
  expect(entries.map(entryPath)).toEqual(['projects/p2', 'projects/p1', 'projects/p1/c', 'projects/p1/s1'])
  expect(entries[1]).toMatchObject({ runs: 3, cost: 3_500_000 })
})

test('runs of removed projects are listed apart', () => {
  const runs = byId([run('a', 1), run('b', 2, { project: 'p9' })])
  expect(strayEntries(byId(projects), accountView({ runs })).map(({ id }) => id)).toEqual(['b'])
})

test('a run that waits for its time or an offer isn’t shown as renting', () => {
  const wordOf = (waiting?: Waiting) =>
    runState(run('a', 0, { step: 'waiting', ...(waiting && { waiting }) })).word
  const time: Waiting = { for: 'time', since: 0, nextTryAt: 7200 }
  expect(wordOf(time)).toBe('Waiting')
  expect(wordOf({ for: 'offer', since: 0 })).toBe('Waiting')
  expect([wordOf(), wordOf({ for: 'boot', since: 0 })]).toEqual(['Renting', 'Renting'])
  expect(beforeRentingWords(time, 0)).toBe('begins in 2 h')
  expect(beforeRentingWords({ for: 'offer', since: 0, nextTryAt: 60 }, 0)).toBe('for an offer that fits')
})
