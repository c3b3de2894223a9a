import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Run } from '#core/runs/model.ts'
import { createOutputs, everyPart, type RunPart, toLose } from '#core/runs/output.ts'
import type { StoredRuns } from '#core/runs/stored-runs.ts'
import { MemoryFiles } from '#test/berth/machine.ts'

const most = { all: 1000, file: 100 }

const over = (id: string, endedAt: number) => ({ id, step: 'done', createdAt: 1, endedAt }) as const
const going = (id: string, createdAt: number) => ({ id, step: 'running', createdAt }) as const
/** `count` files of a run, full but for the last. */
const files = (run: string, count: number, last = 100): RunPart[] =>
  Array.from({ length: count }, (_, at) => ({ run, at: at * 100, size: at === count - 1 ? last : 100 }))

test('the run that ended first loses its oldest output first, and running ones lose last', () => {
  const runs = [going('g', 5), over('new', 90), over('old', 50)]
  const lost = (...parts: RunPart[][]) => [...toLose(parts.flat(), runs, most)]
  expect(lost(files('old', 4), files('new', 4), files('g', 1, 1))).toEqual([])
  expect(lost(files('old', 4), files('new', 4), files('g', 2, 1))).toEqual([['old', 100]])
  expect(lost(files('old', 4), files('new', 4), files('g', 4, 1))).toEqual([['old', 300]])
  expect(lost(files('old', 4), files('new', 4), files('g', 6, 1))).toEqual([
    ['old', 300],
    ['new', 200],
  ])
  expect(lost(files('old', 4), files('new', 4), files('g', 8, 1))).toEqual([
    ['old', 400],
    ['new', 300],
  ])
  expect(lost(files('old', 2), files('g', 12, 1))).toEqual([
    ['old', 200],
    ['g', 300],
  ])
  expect(lost(files('nobody', 1), files('old', 4), files('new', 4), files('g', 1, 1))).toEqual([
    ['nobody', 100],
  ])
})

test('there is always room for another file, and a current run keeps its newest output', () => {
  const counts = fc.array(
    fc.record({ count: fc.nat(6), ends: fc.boolean(), last: fc.integer({ min: 1, max: 100 }) }),
    {
      maxLength: 8,
    },
  )
  fc.assert(
    fc.property(counts, all => {
      const runs = all.map(({ ends }, at) => (ends ? over(`x${at}`, at) : going(`x${at}`, at)))
      const parts = all.flatMap(({ count, last }, at) => (count > 0 ? files(`x${at}`, count, last) : []))
      const lost = toLose(parts, runs, most)
      const left = parts.filter(({ run, at, size }) => at + size > (lost.get(run) ?? 0))
      for (const [at, { count, ends }] of all.entries())
        if (!ends && count > 0) expect(left.some(({ run }) => run === `x${at}`)).toBe(true)
      expect(left.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(most.all - most.file)
      // No more than needed is lost.
      if (lost.size > 0) {
        const sizes = left.map(({ run, at, size }) => {
          const newest = !left.some(other => other.run === run && other.at > at)
          return newest && runs.some(({ id, step }) => id === run && step === 'running') ? 100 : size
        })
        expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(most.all - 2 * most.file)
      }
    }),
  )
})

test('twenty runs with much output store 200 MB together, and each reports its removed part', async () => {
  const disk = new MemoryFiles()
  const runs = Array.from({ length: 20 }, (_, at) => over(`x${String(at).padStart(16, '0')}`, at))
  const dropped = new Map<string, number>()
  const storedRuns = {
    all: () => runs.map(run => ({ ...run, program: run.id })) as unknown as readonly Run[],
    note: (id: string, { droppedBytes: to }: { droppedBytes?: number | undefined }) =>
      void dropped.set(id, to ?? 0),
  } satisfies Pick<StoredRuns, 'all' | 'note'>
  const outputs = createOutputs(disk, 'runs', storedRuns)
  const piece = Buffer.alloc(4 * 1024 * 1024, 'a line of output\n')
  for (const { id } of runs) {
    const output = await outputs.of(id)
    for (let part = 0; part < 4; part += 1) await output.append(piece)
  }
  const parts = await everyPart(disk, 'runs')
  const kept = parts.reduce((sum, { size }) => sum + size, 0)
  expect(kept).toBeGreaterThan(190 * 1024 * 1024)
  expect(kept).toBeLessThanOrEqual(200 * 1024 * 1024)
  expect(dropped.get(runs[0]?.id ?? '')).toBe(3 * piece.length)
  for (const { id } of runs) {
    const output = await outputs.of(id)
    expect(output.first()).toBe(dropped.get(id) ?? 0)
    expect(output.next()).toBe(4 * piece.length)
  }
})
