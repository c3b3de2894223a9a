import { expect, test } from 'vitest'
import type { SyncedFolder } from '../../../../electron/ports/synced-folders.ts'
import { readTree } from '../../../../electron/ssh/sync/scan.ts'

test('other work has its turn while nasty ignore rules are tried on many names', async () => {
  const facts = { size: 0, modified: 0, executable: false }
  const names = ['.gitignore', ...Array.from({ length: 200 }, (_, at) => `${'a'.repeat(100)}${at}`)]
  const rules = Array.from({ length: 200 }, (_, at) => `${'*a'.repeat(25)}b${at}`).join('\n')
  const folder: Pick<SyncedFolder, 'list' | 'read'> = {
    list: async () => names.map(name => ({ name, kind: 'file', ...facts })),
    read: async () => ({ bytes: Buffer.from(rules), ...facts }),
  }
  let turns = 0
  let next = setImmediate(function take() {
    turns += 1
    next = setImmediate(take)
  })
  const { files } = await readTree(folder as SyncedFolder)
  clearImmediate(next)
  expect(files).toHaveLength(201)
  expect(turns).toBeGreaterThan(5)
})
