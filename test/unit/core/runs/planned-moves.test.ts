import { expect, test } from 'vitest'
import { problemOf } from '#core/bridge/problems.ts'
import type { Run } from '#core/runs/model.ts'
import { createPlannedMoves } from '#core/runs/planned-moves.ts'
import { openStoredRuns } from '#core/runs/stored-runs.ts'
import { BerthError } from '#shared/problem.ts'
import { accountContext } from '#test/berth/account-context.ts'
import { projectRun } from './stored-run.ts'

type Parts = Parameters<typeof createPlannedMoves>
type Seek = Parts[1]['projects']['seek']

/** Asks to move a run while the market is so; what became of it, and why not. `meanwhile`: the run once that was searched. */
async function asked(seek: Seek, meanwhile: Partial<Run> = {}) {
  let run: Run = projectRun({ name: 'digits' })
  const context = {
    account: 'a00000001',
    now: () => 2000,
    activity: { add: () => undefined },
    platform: {},
  } as unknown as Parts[0]
  const parts = {
    runs: {
      get: () => run,
      intend: async (_: string, change: Partial<Run>) => {
        run = { ...run, ...change }
      },
    },
    projects: {
      seek: async (of: Parameters<Seek>[0]) => {
        const found = await seek(of)
        run = { ...run, ...meanwhile }
        return found
      },
    },
  } as unknown as Parts[1]
  const why = await createPlannedMoves(context, parts)
    .ask(run.id)
    .then(
      () => undefined,
      error => problemOf(error),
    )
  return { since: run.movingSince, why: why && `${why.code}: ${why.message}` }
}

test('a run moves where there is a machine for it', async () => {
  expect(await asked(async () => ({ fits: true }))).toEqual({ since: 2000, why: undefined })
})

test('a run that finds no machine goes on where it is, and says so', async () => {
  expect(await asked(async () => ({ fits: false }))).toEqual({
    since: undefined,
    why: 'no_offers: No machine within its price is free now, so digits goes on where it is.',
  })
  expect((await asked(async () => ({ fits: false, cheapest: 420_000 }))).why).toContain(
    'The cheapest one above it costs $0.420/h.',
  )
  const offline = new BerthError({ code: 'no_network', message: 'The service doesn’t answer.' })
  expect((await asked(() => Promise.reject(offline))).since).toBeUndefined()
})

test('a run that ended while the market was searched does not move', async () => {
  const { since, why } = await asked(async () => ({ fits: true }), { step: 'fetching' })
  expect([since, why]).toEqual([undefined, expect.stringContaining('not_movable')])
})

test.each<[string, Parameters<typeof projectRun>[0], true | undefined]>([
  ['a command that runs', {}, true],
  ['a set-up', { step: 'setup' }, undefined],
  ['a command that is yet to begin', { begun: undefined }, undefined],
  [
    'one on several machines',
    { node: { of: 'x0000000000000001', rank: 0, count: 2 } as Run['node'] },
    undefined,
  ],
])('the page offers a move of %s, if it may be', async (_, given, isMovable) => {
  const context = accountContext()
  const runs = await openStoredRuns(context, () => undefined)
  await runs.add(projectRun(given))
  const [view] = Object.values(context.store.get().accounts[context.account]?.runs ?? {})
  expect(view).toMatchObject({ step: given?.step ?? 'running' })
  expect(view && 'isMovable' in view ? view.isMovable : undefined).toBe(isMovable)
})
