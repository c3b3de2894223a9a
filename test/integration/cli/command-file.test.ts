import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { followCommandFile, openSettings } from '#core/settings.ts'
import { systemClock } from '#platform/clock-and-random.ts'
import { userCommandFile } from '#platform/command-file.ts'
import { openFiles } from '#platform/files.ts'
import { fileModes, lacks } from '#test/needs.ts'
import { ended } from './cli.ts'

async function newFolder() {
  const home = await mkdtemp(join(tmpdir(), 'berth-command-'))
  onTestFinished(() => rm(home, { recursive: true, force: true }))
  return { home, path: join(home, '.local/bin/berth') }
}

/** Prints BERTH_HOME and its arguments. */
const program = [
  process.execPath,
  '-e',
  'console.log(JSON.stringify([process.env.BERTH_HOME, ...process.argv.slice(1)]))',
  '--',
]

function fileIn(home: string, env: Record<string, string> = {}, command: readonly string[] = program) {
  const file = userCommandFile({ platform: 'linux', env, home, command })
  if (!file) throw new Error('there is one')
  return file
}

const call = async (path: string, args: readonly string[], env: Record<string, string>) =>
  JSON.parse((await ended(spawn(path, args, { env: { PATH: process.env['PATH'] ?? '', ...env } }))).out)

test.skipIf(lacks(fileModes))(
  'the installed command passes all arguments on, to the Berth that wrote it',
  async () => {
    const { home, path } = await newFolder()
    const odd = `/a 'b' "c" $d \`e\` \\f`
    await fileIn(home, { BERTH_HOME: odd }).write()
    expect(await call(path, ['ssh', '4711', '--', "it's $HOME"], {})).toEqual([
      odd,
      'ssh',
      '4711',
      '--',
      "it's $HOME",
    ])
    expect(await call(path, [], { BERTH_HOME: '/other' })).toEqual(['/other'])
    await fileIn(home).write()
    expect(await call(path, ['ps'], {})).toEqual([null, 'ps'])
    await fileIn(home).remove()
    expect(await fileIn(home).isThere()).toBe(false)
  },
)

test('a foreign file is neither overwritten nor removed, and Windows has no such file', async () => {
  const { home, path } = await newFolder()
  await mkdir(join(home, '.local/bin'), { recursive: true })
  await writeFile(path, '#!/bin/sh\necho mine\n')
  await expect(fileIn(home).write()).rejects.toMatchObject({ problem: { code: 'command_taken' } })
  await fileIn(home).remove()
  expect(await readFile(path, 'utf8')).toBe('#!/bin/sh\necho mine\n')
  expect(userCommandFile({ platform: 'win32', env: {}, home, command: program })).toBeUndefined()
})

test('at a start the file follows a moved Berth, and stays removed if the user removed it', async () => {
  const { home, path } = await newFolder()
  const settings = await openSettings(openFiles(join(home, 'berth')), systemClock, () => undefined)
  await settings.change({ commandFile: true })
  await fileIn(home, {}, ['/old/berth']).write()
  await followCommandFile(settings, fileIn(home, {}, ['/new/berth', '--cli']))
  expect(await readFile(path, 'utf8')).toContain('exec /new/berth --cli "$@"')
  await rm(path)
  await followCommandFile(settings, fileIn(home))
  expect(settings.get().commandFile).toBe(false)
  await expect(readFile(path)).rejects.toThrow('ENOENT')
})
