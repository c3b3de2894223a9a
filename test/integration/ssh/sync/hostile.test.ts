import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Headers, pack } from 'tar-stream'
import { describe, expect, onTestFinished, test } from 'vitest'
import { codeOf } from '#test/berth/steps.ts'
import { tree } from '../files/place.ts'
import { noSshd } from '../own-root.ts'
import { openSync, write } from './place.ts'

/** An instance on which some programs are replaced by scripts, with files beside them. */
async function onHostile(programs: Readonly<Record<string, string | Buffer>>) {
  const folder = mkdtempSync(join(tmpdir(), 'berth-hostile-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  for (const [name, content] of Object.entries(programs))
    writeFileSync(join(folder, name), content, { mode: 0o755 })
  const place = await openSync([`SetEnv PATH=${folder}:/usr/bin:/bin`])
  mkdirSync(place.remote)
  return place
}

const saysGnu = `[ "$1" = --version ] && { echo 'tar (GNU tar) 1.34'; exit; }`
/** A tar that always prints the file `archive` beside it. */
const givesArchive = `#!/bin/sh\n${saysGnu}\ncat > /dev/null & exec cat "\${0%/*}/archive"\n`

async function archiveOf(...entries: (Headers & { content?: string })[]): Promise<Buffer> {
  const archive = pack()
  for (const { content = '', ...header } of entries) archive.entry(header, content)
  archive.finalize()
  const pieces: Buffer[] = []
  for await (const piece of archive) pieces.push(piece)
  return Buffer.concat(pieces)
}

describe.skipIf(noSshd)(`a hostile instance${noSshd}`, () => {
  test('an archive delivers only listed and requested files, each once', async () => {
    const archive = await archiveOf(
      { name: '../evil', content: 'x' },
      { name: '/tmp/berth-evil', content: 'x' },
      { name: './a.pt', type: 'symlink', linkname: '/etc/passwd' },
      { name: 'other.pt', content: 'x' },
      { name: 'b.pt', content: 'x'.repeat(1_500_000) },
      { name: './a.pt', content: 'real' },
      { name: './a.pt', content: 'fake' },
    )
    const { here, remote, down } = await onHostile({ tar: givesArchive, archive })
    write(remote, { 'a.pt': 'real', 'b.pt': 'x' })
    expect(await down()).toMatchObject({ files: 1, skipped: [{ path: 'b.pt', why: 'changed' }] })
    expect(Object.keys(tree(here))).toEqual(['a.pt'])
    expect(readFileSync(join(here, 'a.pt'), 'utf8')).toBe('real')
    expect(existsSync('/tmp/berth-evil') || existsSync(join(here, '../evil'))).toBe(false)
  })

  test('an endless archive is aborted', async () => {
    const archive = await archiveOf({ name: 'x', content: 'x'.repeat(2_000_000) })
    const endless = `#!/bin/sh\n${saysGnu}\nwhile cat "\${0%/*}/archive"; do :; done\n`
    const { here, remote, down } = await onHostile({ tar: endless, archive })
    write(remote, { 'a.pt': 'real' })
    expect(await codeOf(down())).toBe('sync_failed')
    expect(tree(here)).toEqual({})
  })

  test('a malformed archive is reported and writes nothing', async () => {
    const { here, remote, down } = await onHostile({
      tar: givesArchive,
      archive: Buffer.alloc(2048, 'no archive'),
    })
    write(remote, { 'a.pt': 'real' })
    expect(await codeOf(down())).toBe('sync_failed')
    expect(tree(here)).toEqual({})
  })

  test('an endless list is refused', async () => {
    const find = `#!/bin/sh\nexec yes 'f 1 1 644 ./${'a'.repeat(4000)}'\n`
    const { down, up, here, remote } = await onHostile({ find })
    write(here, { 'a.py': 'x' })
    expect(await codeOf(up())).toBe('no_posix_shell')
    write(remote, { 'a.py': 'y' })
    expect(await codeOf(down())).toBe('too_many_files')
    expect(await codeOf(up())).toBe('too_many_files')
  })

  test('names that lead out of the folder are left out or skipped', async () => {
    const find = `#!/bin/sh\nprintf 'f 1 1 644 ./../evil\\0\\0f 1 1 644 .//etc/x\\0\\0d 1 1 755 ./..\\0\\0f 1 1 644 ./../b\\0\\0'\n`
    const { here, down } = await onHostile({ find })
    const { files, skipped } = await down()
    expect({ files, skipped: skipped.map(({ path, why }) => `${path} ${why}`) }).toEqual({
      files: 0,
      skipped: ['.. name', '../b name', '../evil name'],
    })
    expect(tree(here)).toEqual({})
  })

  test('nothing arrives beside the paths that were asked for', async () => {
    const find = `#!/bin/sh\nprintf 'f 1 1 644 ./Makefile\\0\\0'\nexec /usr/bin/find "$@"\n`
    const { here, remote, down } = await onHostile({ find })
    write(remote, { 'out/a.pt': 'x', Makefile: 'x' })
    expect(await down({ paths: ['out/'] })).toMatchObject({ files: 1, skipped: [] })
    expect(Object.keys(tree(here))).toEqual(['out/a.pt'])
  })

  test('can’t create a git repository here', async () => {
    const { here, remote, down } = await onHostile({})
    write(remote, {
      'out/HEAD': 'ref: x',
      'out/config': 'x',
      'out/refs/x': 'x',
      'out/objects/x': 'x',
      'a/.git/config': 'x',
      head: 'x',
    })
    const { skipped } = await down()
    expect(skipped.map(({ path }) => path).sort()).toEqual(['a/.git', 'out'])
    expect(Object.keys(tree(here)).sort()).toEqual(['head'])
  })

  test('a shell that prints a greeting is reported as no_posix_shell', async () => {
    const { here, up } = await onHostile({ sh: '#!/bin/bash\necho Welcome\nexec /bin/sh "$@"\n' })
    write(here, { 'a.py': 'x' })
    expect(await codeOf(up())).toBe('no_posix_shell')
  })
})
