import { mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { copyTree } from '#simulator/ssh/files/copy-tree.ts'
import { Scratch } from '#simulator/ssh/files/scratch.ts'
import { temporaryFolder } from '#test/temporary-folder.ts'

/** A disk with a `/workspace/a.txt`. */
function disk() {
  const folder = temporaryFolder()
  const scratch = new Scratch(folder)
  writeFileSync(join(folder, 'workspace', 'a.txt'), folder)
  return { folder, scratch, read: (path: string) => readFileSync(join(folder, path), 'utf8') }
}

test('a trailing slash on the source means its contents, which replace existing files', () => {
  const [from, to] = [disk(), disk()]
  copyTree(from.scratch, '/workspace/', to.scratch, '/workspace')
  expect(to.read('workspace/a.txt')).toBe(from.folder)
})

test('a link is copied as a link, and one on the target can’t lead outside', () => {
  const [from, to, outside] = [disk(), disk(), disk()]
  symlinkSync('/etc/passwd', join(from.folder, 'workspace', 'link'))
  symlinkSync(outside.folder, join(to.folder, 'tmp', 'out'))
  // The same path on the target itself, to which the link leads there.
  mkdirSync(join(to.folder, dirname(outside.folder)), { recursive: true })
  copyTree(from.scratch, '/workspace/link', to.scratch, '/root/')
  expect(readlinkSync(join(to.folder, 'root', 'link'))).toBe('/etc/passwd')
  copyTree(from.scratch, '/workspace/a.txt', to.scratch, '/tmp/out/a.txt')
  expect(() => outside.read('a.txt')).toThrow()
})

test('a copy onto or into itself is EINVAL, and a missing source is ENOENT', () => {
  const { scratch, folder, read } = disk()
  for (const target of ['/workspace/a.txt', '/workspace/']) {
    expect(() => copyTree(scratch, '/workspace/a.txt', scratch, target)).toThrow('EINVAL')
  }
  expect(() => copyTree(scratch, '/workspace', scratch, '/workspace/inside')).toThrow('EINVAL')
  expect(() => copyTree(scratch, '/nothing', scratch, '/tmp')).toThrow('ENOENT')
  expect(read('workspace/a.txt')).toBe(folder)
})
