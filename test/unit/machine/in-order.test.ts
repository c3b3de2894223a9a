import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { inOrder } from '#machine/chosen-files.ts'

test('overlapping writes end up one after another in the file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-in-order-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20 }))
  const path = join(folder, 'file')
  const pieces = Array.from({ length: 50 }, (_, at) => Buffer.alloc((at * 7919) % 5000, at))
  const file = await open(path, 'w')
  const order = inOrder(file, 0)
  await Promise.all(pieces.map(piece => order.write(piece)))
  await file.close()
  expect(readFileSync(path).equals(Buffer.concat(pieces))).toBe(true)
  expect(order.size).toBe(Buffer.concat(pieces).length)
})

test.skipIf(!existsSync('/dev/full'))('after a failed write nothing queued is written', async () => {
  const file = await open('/dev/full', 'w')
  onTestFinished(() => file.close())
  const order = inOrder(file, 0)
  const ends = await Promise.allSettled(['a', 'b', 'c'].map(text => order.write(Buffer.from(text))))
  expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  await expect(order.write(Buffer.from('d'))).rejects.toThrow('ENOSPC')
  expect(order.size).toBe(0)
})
