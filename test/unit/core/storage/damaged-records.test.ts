import fc from 'fast-check'
import * as v from 'valibot'
import { beforeEach, expect, test } from 'vitest'
import type { AccountContext } from '#core/account-context.ts'
import { openStoredLimits, type StoredLimit } from '#core/limits/model.ts'
import { openStoredRentals, Rental } from '#core/renting/rental.ts'
import type { Run } from '#core/runs/model.ts'
import { openStoredRuns } from '#core/runs/stored-runs.ts'
import type { BrokenFile } from '#core/storage/json-file.ts'
import { openStoredSweeps } from '#core/sweeps/record.ts'
import { account, accountContext } from '#test/berth/account-context.ts'
import { MemoryFiles } from '#test/berth/machine.ts'
import { storedLimit } from '../limits/stored-limit.ts'
import { retrying, someAttempt, someRental } from '../renting/some-rental.ts'
import { projectRun } from '../runs/stored-run.ts'

let files: MemoryFiles
let broken: BrokenFile[]
let context: AccountContext
beforeEach(begin)

function begin(): void {
  files = new MemoryFiles()
  broken = []
  context = accountContext({ files, onBroken: file => void broken.push(file) })
}

const place = (name: string) => `accounts/${account}/${name}.json`
const write = (name: string, records: unknown) => void files.texts.set(place(name), JSON.stringify(records))

/** The paths of all parts of a record, itself included. */
function pathsIn(value: unknown, path: readonly string[] = []): string[][] {
  const within = typeof value === 'object' && value !== null ? Object.entries(value) : []
  return [[...path], ...within.flatMap(([key, part]) => pathsIn(part, [...path, key]))]
}

/** A copy with another part at a path, or without it. */
function damaged(value: unknown, [key, ...rest]: readonly string[], part: unknown): unknown {
  if (key === undefined) return part
  const copy = structuredClone(value) as Record<string, unknown>
  copy[key] = damaged(copy[key], rest, part)
  return copy
}

const junk = fc.constantFrom<unknown>(null, '', 'x', -1, 1e300, {}, [], [null], { kind: 'other' }, false)

/** Damages to one record: a few of its parts replaced or removed. */
const damagesOf = (record: object) =>
  fc
    .array(fc.tuple(fc.constantFrom(...pathsIn(record)), junk), { minLength: 1, maxLength: 3 })
    .map(damages =>
      damages.reduce<unknown>(
        (damagedBefore, [path, part]) =>
          pathsIn(damagedBefore).some(other => other.join() === path.join())
            ? damaged(damagedBefore, path, part)
            : damagedBefore,
        record,
      ),
    )

const other = 'fffffffffffffff1'

test('a damaged limit loses no other, and its instance has a limit or is named', async () => {
  const limit: StoredLimit = storedLimit({ instance: 4711, targets: [1], history: [{ at: 1, text: 'x' }] })
  await fc.assert(
    fc.asyncProperty(damagesOf(limit), async record => {
      begin()
      const sound = storedLimit({ id: `g${other}`, instance: 5 })
      write('limits', [record, sound])
      const limits = await openStoredLimits(context)
      expect(limits.find(sound.id)).toEqual(sound)
      const rest = limits.all().find(({ id }) => id !== sound.id)
      if (rest === undefined) expect(broken[0]).toMatchObject({ lost: 1 })
      // One on all instances would act on others.
      else if (rest.instance === undefined)
        expect(JSON.parse(JSON.stringify(record))).not.toHaveProperty('instance')
      if (broken.length > 0)
        expect(files.texts.get(`${place('limits')}.broken`)).toBe(JSON.stringify([record, sound]))
      const again = await openStoredLimits(context)
      expect(again.all()).toEqual(limits.all())
      expect(broken.length).toBeLessThanOrEqual(1)
    }),
    { numRuns: 500 },
  )
})

test('a limit whose condition is unreadable stops its instance in a day', async () => {
  write('limits', [{ ...storedLimit(), when: { kind: 'cost', dollars: null } }])
  const limits = await openStoredLimits(context)
  expect(limits.all()).toMatchObject([
    { instance: 7, action: 'stop', when: { kind: 'time', at: context.now() + 86_400 } },
  ])
  expect(broken).toMatchObject([{ name: 'limits', lost: 0, instances: [7] }])
})

test('a damaged run loses no other; one that cannot go on as agreed fails, and its machine is stopped', async () => {
  const run = projectRun({
    instance: 4711,
    printed: { loss: 1 },
    code: 1,
    spent: { micros: 1, at: 1, perHour: 1 },
  })
  await fc.assert(
    fc.asyncProperty(damagesOf(run), async record => {
      begin()
      const sound: Run = { ...projectRun({ instance: 5 }), id: `x${other}` }
      write('runs', [record, sound])
      const runs = await openStoredRuns(context, () => undefined)
      expect(runs.find(sound.id)).toEqual(sound)
      const rest = runs.all().find(({ id }) => id !== sound.id)
      if (rest === undefined) expect(broken[0]).toMatchObject({ lost: 1 })
      // It follows its command for its project, or its machine is stopped and kept.
      else if (rest.step === 'running')
        expect(rest).toMatchObject({ instance: expect.any(Number), project: expect.any(Object) })
      else if (rest.step === 'ending')
        expect(rest).toMatchObject({ afterwards: 'stop', problem: { code: 'not_read' } })
    }),
    { numRuns: 500 },
  )
})

test.each([
  ['printed', { loss: null }],
  ['code', null],
  ['progress', { percent: null }],
])('a run goes on without its %s, where only that is unreadable', async (field, value) => {
  const run = projectRun({ instance: 4711 })
  write('runs', [{ ...run, [field]: value }])
  const runs = await openStoredRuns(context, () => undefined)
  expect(runs.get(run.id)).toMatchObject({ step: 'running', instance: 4711, project: run.project })
  expect(broken).toMatchObject([{ name: 'runs', lost: 0, instances: [4711] }])
})

test('a run of a sweep that is unreadable fails, and its machine is stopped', async () => {
  const run = projectRun({ instance: 4711, sweep: { id: 'q0000000000000001', index: 0, attempt: 0 } })
  write('runs', [{ ...run, project: undefined }])
  write('sweeps', [{ id: 'q0000000000000001' }])
  const sweeps = await openStoredSweeps(context, () => [])
  const runs = await openStoredRuns(context, sweep => sweeps.find(sweep)?.project)
  expect(runs.get(run.id)).toMatchObject({
    step: 'ending',
    afterwards: 'stop',
    problem: { code: 'not_read' },
  })
})

test('a damaged rental loses no other; one under way asks for nothing that was not agreed', async () => {
  const attempts = [
    someAttempt({ drop: { why: { code: 'x', message: 'X' }, at: 1, blame: true, last: false } }),
  ]
  const rental: Rental = { ...retrying(...attempts), request: { ...someRental().request, bid: 0.5 } }
  await fc.assert(
    fc.asyncProperty(damagesOf(rental), async record => {
      begin()
      const sound = someRental({ id: `r${other}`, attempts: [someAttempt({ mark: `r${other}` })] })
      write('rentals', [record, sound])
      const rentals = await openStoredRentals(context)
      expect(rentals.find(sound.id)).toEqual(sound)
      const rest = rentals.all().find(({ id }) => id !== sound.id)
      if (rest === undefined) expect(broken[0]).toMatchObject({ lost: 1 })
      else if (rest.step === 'trying' && !rest.unwanted) {
        const stored: Record<string, unknown> = JSON.parse(JSON.stringify(record))
        for (const field of ['request', 'search', 'retries'] as const)
          expect(v.safeParse(Rental.entries[field], stored[field]).typed).toBe(true)
      }
    }),
    { numRuns: 500 },
  )
})

test('a rental that only breaks a bound goes on as before', async () => {
  const rental = someRental({ request: { ...someRental().request, image: 'ubuntu 24.04', bid: 200 } })
  write('rentals', [rental])
  const rentals = await openStoredRentals(context)
  expect(rentals.all()).toEqual([rental])
  expect(broken).toEqual([])
})
