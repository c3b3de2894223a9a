import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemSyncedFolders } from '#platform/synced-folders.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

test('a file that is discarded leaves no folder that was made for it, but each that was there', async () => {
  const home = temporaryFolder({})
  mkdirSync(join(home, 'out/logs'), { recursive: true })
  const folder = systemSyncedFolders.at(home)
  for (const place of ['out/step-50/rank0', 'out/logs']) {
    await folder.makeFolder(place)
    const file = await folder.receive(`${place}/model`)
    await file.write(Buffer.from('half'))
    await file.discard()
  }
  expect(readdirSync(home, { recursive: true }).toSorted()).toEqual(['out', 'out/logs'])
})
