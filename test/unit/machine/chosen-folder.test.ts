import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { chosenFolder } from '#machine/chosen-files.ts'

/** A chosen folder within another, so that writes outside it show. */
function chosen() {
  const outer = mkdtempSync(join(tmpdir(), 'berth-chosen-'))
  onTestFinished(() => rmSync(outer, { recursive: true, force: true, maxRetries: 20 }))
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
