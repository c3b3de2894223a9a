import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RemoteItem } from '#ssh/sync/listing.ts'
import { besideName, originalPath, planUp } from '#ssh/sync/plan.ts'
import type { LocalFile } from '#ssh/sync/scan.ts'

const names = ['a', 'b', 'c/d', 'c/e', '.env', 'f/g/h']
const version = fc.record({
  size: fc.integer({ min: 0, max: 2 }),
  modified: fc.integer({ min: 0, max: 2 }),
  executable: fc.boolean(),
})
const files = fc.dictionary(fc.constantFrom(...names), version, { noNullPrototype: true })

function treeOf(here: Record<string, Omit<LocalFile, 'path'>>) {
  const files = Object.entries(here).map(([path, facts]) => ({
    path,
    ...facts,
    modified: facts.modified + 0.5,
  }))
  return { files, folders: [], links: [] }
}

function remoteOf(there: Record<string, Omit<RemoteItem, 'kind'>>, start = ''): [string, RemoteItem][] {
  return Object.entries(there).map(([path, facts]) => [start + path, { kind: 'file', ...facts }])
}

/** The remote files after the plan is carried out. */
function after(
  plan: ReturnType<typeof planUp>,
  there: Record<string, unknown>,
  gathered: Record<string, unknown>,
): Record<string, unknown> {
  const placed = plan.resumes ? gathered : {}
  const sent = plan.files.map(({ path, size, modified, executable }) => [
    path,
    { size, modified: Math.floor(modified), executable },
  ])
  return { ...there, ...placed, ...Object.fromEntries(sent) }
}

const options = { modes: true, downloaded: new Map() }

test('a sync brings every file over and changes nothing else', () => {
  fc.assert(
    fc.property(files, files, files, (here, there, gathered) => {
      const listed = new Map([...remoteOf(there), ...remoteOf(gathered, '.berth-sync/')])
      const plan = planUp(treeOf(here), listed, options)
      expect(after(plan, there, gathered)).toEqual({ ...there, ...here })
      expect(plan.unchanged + plan.files.length).toBe(Object.keys(here).length)
    }),
  )
})

test('an unchanged file is not sent', () => {
  fc.assert(
    fc.property(files, here => {
      const plan = planUp(treeOf(here), new Map(remoteOf(here)), options)
      expect(plan).toMatchObject({ files: [], bytes: 0, gathered: false })
    }),
  )
})

test('a file of an interrupted sync is not sent again', () => {
  fc.assert(
    fc.property(files, here => {
      const plan = planUp(treeOf(here), new Map(remoteOf(here, '.berth-sync/')), options)
      expect(plan.files).toEqual([])
    }),
  )
})

test('a downloaded file that was not changed here replaces none on the instance', () => {
  const file = (size: number) => ({ size, modified: 1, executable: false })
  const here = { changed: file(1), same: file(1), gone: file(1), linked: file(1) }
  const listed = new Map([
    ...remoteOf({ changed: file(2), same: file(2) }),
    ['linked', { kind: 'link', target: 'same', ...file(4) } as RemoteItem] as const,
  ])
  const downloaded = new Map(['same', 'gone', 'linked'].map(path => [path, { size: 1, modified: 1 }]))
  downloaded.set('changed', { size: 3, modified: 1 })
  const plan = planUp(treeOf(here), listed, { modes: true, downloaded })
  expect(plan.files.map(({ path }) => path)).toEqual(['changed', 'gone'])
})

test('a name next to another one leads back to it', () => {
  const of = (path: string, number: number) => {
    const at = path.lastIndexOf('/') + 1
    return path.slice(0, at) + besideName(path.slice(at), 'instance 4711', number)
  }
  for (const path of ['model.pt', 'out/ckpt', 'a.d/c (2).tar.gz', '.env'])
    expect([1, 2, 13].map(number => originalPath(of(path, number)))).toEqual([path, path, path])
  for (const path of ['out (from instance 1)/ckpt', 'ckpt (from instance)', 'c (from instance 1) b.pt'])
    expect(originalPath(path)).toBe(path)
})
