import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { chosenFolder, inOrder } from '#platform/chosen-files.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

/** A chosen folder within another, so that writes outside it show. */
function chosen() {
  const outer = temporaryFolder()
  const root = join(outer, 'chosen')
  mkdirSync(root)
  return { outer, root, folder: chosenFolder(root) }
}

test('a file that appears meanwhile is not overwritten, and received bytes wait for the name', async () => {
  const { root, folder } = chosen()
  const sink = await folder.receive(['notes.txt'], '1')
  await sink.write(Buffer.from('theirs'))
  writeFileSync(join(root, 'notes.txt'), 'mine')
  await expect(sink.finish(1)).rejects.toMatchObject({ problem: { code: 'exists' } })
  expect(readFileSync(join(root, 'notes.txt'), 'utf8')).toBe('mine')

  rmSync(join(root, 'notes.txt'))
  const again = await folder.receive(['notes.txt'], '1')
  expect(again.size).toBe('theirs'.length)
  await again.finish(1)
  expect(readFileSync(join(root, 'notes.txt'), 'utf8')).toBe('theirs')
  expect(readdirSync(root)).toEqual(['notes.txt'])
})

test.each([[[]], [['..', 'x']], [['.']], [['']], [['a/../../x']], [['/tmp/x']], [['a\0']]])(
  'the path %j is refused, since each part must be a single name',
  async path => {
    const { outer, root, folder } = chosen()
    await expect(folder.receive(path, '1')).rejects.toThrow('not a path in the folder')
    await expect(folder.makeFolder(path)).rejects.toThrow('not a path in the folder')
    expect(readdirSync(outer)).toEqual(['chosen'])
    expect(readdirSync(root)).toEqual([])
  },
)

test('overlapping writes end up one after another in the file', async () => {
  const path = join(temporaryFolder(), 'file')
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
