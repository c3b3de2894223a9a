import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { typedFolder } from '#core/projects/typed-folder.ts'
import { systemSyncedFolders } from '#machine/synced-folders.ts'

function homeFolder(): string {
  const top = mkdtempSync(join(tmpdir(), 'berth-typed-'))
  onTestFinished(() => rmSync(top, { recursive: true }))
  const home = join(top, 'home')
  for (const folder of ['code/digits', 'code/repo/.git', 'code/bare', '.ssh/keys', '.git', '../other'])
    mkdirSync(join(home, folder), { recursive: true })
  for (const folder of ['code/digits', '.ssh/keys', '../other', '.'])
    writeFileSync(join(home, folder, 'berth.yaml'), 'run: x\n')
  symlinkSync(join(home, '.ssh', 'keys'), join(home, 'code', 'link'))
  symlinkSync(join(home, '..'), join(home, 'up'))
  return home
}

const add = (home: string, typed: string) => typedFolder({ home, syncedFolders: systemSyncedFolders }, typed)

test('a page in a browser names folders with a berth.yaml or a repository below the home folder', async () => {
  const home = homeFolder()
  const digits = join(home, 'code', 'digits')
  for (const typed of ['~/code/digits', 'code/digits/', digits, '~/code/../code/digits'])
    expect(await add(home, typed)).toBe(digits)
  expect(await add(home, '~/code/repo')).toBe(join(home, 'code', 'repo'))
})

test('a page in a browser names no other folder, and learns of none', async () => {
  const home = homeFolder()
  const refused = [
    '~',
    '.',
    '~/code/bare',
    '~/.ssh/keys',
    '~/code/link',
    '~/code/digits/berth.yaml',
    '~/missing',
  ]
  const outside = [
    '/',
    '/etc',
    '~/../other',
    '../other',
    '~/up/other',
    join(home, '..', 'other'),
    '~/code\0/digits',
  ]
  const answers = await Promise.all(
    [...refused, ...outside].map(typed => add(home, typed).then(String, error => error.problem)),
  )
  for (const answer of answers) expect(answer).toEqual(answers[0])
  expect(answers[0]).toMatchObject({ code: 'not_offered' })
})
