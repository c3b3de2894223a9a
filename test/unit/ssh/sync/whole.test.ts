import { expect, test } from 'vitest'
import { createFirstMinutes, unfinishedFiles } from '#ssh/sync/whole.ts'
import { HandClock } from '#test/berth/clocks.ts'

test('parts of a folder are waited for a minute, however young its files stay', async () => {
  const clock = new HandClock()
  const mayWait = createFirstMinutes(clock)
  expect(mayWait('step-2')).toBe(true)
  await clock.pass(59_000)
  expect(mayWait('step-2')).toBe(true)
  await clock.pass(1000)
  expect([mayWait('step-2'), mayWait('step-3')]).toEqual([false, true])
})

test('a save is unfinished while it has fewer files than the one before it, for a minute', () => {
  const listed = (files: Record<string, number>) => {
    const items = Object.entries(files).map(
      ([path, age]) => [path, { kind: 'file', size: 1, modified: 1000 - age }] as const,
    )
    return [...unfinishedFiles({ items: new Map(items), now: 1000 } as never).keys()]
  }
  const before = { 'out/step-1/a': 300, 'out/step-1/deep/b': 300 }
  expect(listed({ ...before, 'out/step-2/a': 30 })).toEqual(['out/step-2/a'])
  expect(listed({ ...before, 'out/step-2/a': 30, 'out/step-2/deep/b': 5 })).toEqual([])
  expect(listed({ ...before, 'out/step-2/a': 30, 'out/step-2/deep/b.tmp': 5 })).toEqual(['out/step-2/a'])
  expect(listed({ ...before, 'out/step-2/a': 60 })).toEqual([])
  expect(listed({ ...before, 'out/best/a': 3 })).toEqual([])
  const flat = { 'rank0_of_2-40.pt': 300, 'rank1_of_2-40.pt': 290, 'config.json': 900 }
  expect(listed({ ...flat, 'rank0_of_2-80.pt': 20 })).toEqual(['rank0_of_2-80.pt'])
  expect(listed({ ...flat, 'rank0_of_2-80.pt': 20, 'rank1_of_2-80.pt': 10 })).toEqual([])
  // One that begins anew in a folder of its own has saved once yet, and the one before it more often.
  for (const apart of [650, 20]) {
    const other = { 'version_0/1.ckpt': 250 + apart, 'version_0/2.ckpt': 250, 'version_0/notes.yaml': 250 }
    expect(listed({ ...other, 'version_1/1.ckpt': 20, 'version_1/notes.yaml': 40 })).toEqual([])
  }
  const ranks = { 'step-1/rank0': 320, 'step-1/rank1': 311, 'step-1/rank2': 302 }
  expect(listed({ ...ranks, 'step-2/rank0': 20 })).toEqual(['step-2/rank0'])
})
