import { readFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { inOrder } from '#platform/chosen-files.ts'
import { diskReserve } from '#platform/disk-reserve.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

const megabyte = 1024 ** 2
const disk = { size: 0, free: 0 }

const ask = async () => ({ bsize: 1, blocks: disk.size, bavail: disk.free })

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
        const take = diskReserve('/results', ask)
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

test('what would take the reserve of a disk is not written', async () => {
  const path = join(temporaryFolder(), 'part')
  disk.free = 20 * megabyte + 10
  const file = await open(path, 'w')
  onTestFinished(() => file.close())
  const order = inOrder(file, 0, diskReserve('/results', ask))
  await order.write(Buffer.alloc(10))
  disk.free -= 10
  await expect(order.write(Buffer.alloc(1))).rejects.toMatchObject({ problem: { code: 'disk_full_here' } })
  expect(readFileSync(path).length).toBe(10)
})

test('a disk that does not say what is free takes everything', async () => {
  Object.assign(disk, { size: 0, free: 0 })
  await expect(diskReserve('/results', ask)(megabyte)).resolves.toBeUndefined()
})
