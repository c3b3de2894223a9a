import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RemoteItem } from '#ssh/sync/listing.ts'
import { planUp } from '#ssh/sync/plan-up.ts'
import type { LocalFile, LocalTree } from '#ssh/sync/scan.ts'

const names = ['a', 'b', 'c/d', 'c/e', '.env', 'f/g/h']
const version = fc.record({
  size: fc.integer({ min: 0, max: 2 }),
  modified: fc.integer({ min: 0, max: 2 }),
  executable: fc.boolean(),
})
const files = fc.dictionary(fc.constantFrom(...names), version, { noNullPrototype: true })

function treeOf(here: Record<string, Omit<LocalFile, 'path'>>): LocalTree {
  const all = Object.entries(here).map(([path, facts]) => ({
    path,
    ...facts,
    modified: facts.modified + 0.5,
  }))
  return {
    files: all.filter(({ path }) => path !== '.env'),
    secrets: all.filter(({ path }) => path === '.env'),
    folders: [],
    links: [],
    skipped: [],
    ignored: [],
    linkedRules: [],
  }
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

test('a sync brings every allowed file over and changes nothing else', () => {
  fc.assert(
    fc.property(files, files, files, fc.boolean(), (here, there, gathered, confirmed) => {
      const listed = new Map([...remoteOf(there), ...remoteOf(gathered, '.berth-sync/')])
      const plan = planUp(treeOf(here), listed, new Set(confirmed ? ['.env'] : []), true)
      const { '.env': secret, ...open } = here
      const wanted = confirmed && secret ? here : open
      expect(after(plan, there, gathered)).toEqual({ ...there, ...wanted })
      expect(plan.unchanged + plan.files.length).toBe(Object.keys(wanted).length)
    }),
  )
})

test('an unchanged file is not sent', () => {
  fc.assert(
    fc.property(files, here => {
      const plan = planUp(treeOf(here), new Map(remoteOf(here)), new Set(['.env']), true)
      expect(plan).toMatchObject({ files: [], bytes: 0, gathered: false })
    }),
  )
})

test('a file of an interrupted sync is not sent again', () => {
  fc.assert(
    fc.property(files, here => {
      const plan = planUp(treeOf(here), new Map(remoteOf(here, '.berth-sync/')), new Set(['.env']), true)
      expect(plan.files).toEqual([])
    }),
  )
})
