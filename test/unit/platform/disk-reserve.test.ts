import { readdirSync } from 'node:fs'
import fc from 'fast-check'
import { beforeEach, expect, test, vi } from 'vitest'
import { diskReserve } from '#platform/disk-reserve.ts'
import { systemSyncedFolders } from '#platform/synced-folders.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

const megabyte = 1024 ** 2
const disk = { size: 0, free: 0 }

vi.mock('node:fs/promises', async original => ({
  ...(await original<object>()),
  statfs: async () => ({ bsize: 1, blocks: disk.size, bavail: disk.free }),
}))

beforeEach(() => void Object.assign(disk, { size: 1000 * megabyte, free: 1000 * megabyte }))

const reserveOf = (size: number) => Math.min(256 * megabyte, size * 0.02)

test('whatever comes from elsewhere, a disk keeps its reserve, but for what others write between two looks', async () => {
  const step = fc.record({ bytes: fc.nat(3 * megabyte), byOthers: fc.nat(1000) })
  const size = fc.integer({ min: 1, max: 100_000 * megabyte })
  await fc.assert(
    fc.asyncProperty(
      size,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.array(step, { maxLength: 60 }),
      async (all, part, steps) => {
        Object.assign(disk, { size: all, free: Math.ceil(reserveOf(all) + part * 100 * megabyte) })
        const take = diskReserve('/results')
        let others = 0
        for (const { bytes, byOthers } of steps) {
          const before = disk.free
          const isTaken = await take(bytes).then(
            () => true,
            () => false,
          )
          if (isTaken) disk.free -= bytes
          else expect(before - bytes).toBeLessThan(reserveOf(all))
          expect(disk.free + others).toBeGreaterThanOrEqual(reserveOf(all) - 1)
          disk.free -= byOthers
          others += byOthers
        }
      },
    ),
  )
})

test('a result that would fill the disk is refused, and leaves nothing', async () => {
  const folder = temporaryFolder()
  disk.free = 20 * megabyte + 10
  const results = systemSyncedFolders.at(folder)
  const small = await results.receive('a.pt')
  await small.write(Buffer.alloc(10))
  const large = await results.receive('b.pt')
  disk.free -= 10
  await expect(large.write(Buffer.alloc(1))).rejects.toMatchObject({ problem: { code: 'disk_full_here' } })
  await large.discard()
  await small.complete(0, false)
  await small.finish('a.pt')
  expect(readdirSync(folder)).toEqual(['a.pt'])
})

test('a disk that does not say what is free takes everything', async () => {
  Object.assign(disk, { size: 0, free: 0 })
  await expect(diskReserve('/results')(megabyte)).resolves.toBeUndefined()
})
