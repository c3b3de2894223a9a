import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startUnderDouble } from '../../electron/start-under-double.ts'
import { useShell } from './shell.ts'

const berth = useShell()
const { offerTray, startAlone, ask } = berth

/** Runs the program with --cli, beside the running Berth; gives its exit code. */
const command = async (...args: string[]) =>
  (await startUnderDouble(berth.session.env, ['--cli', ...args])).ended

test('the program with --cli is the command: without a window, before the lock, and with its exit codes', async () => {
  expect(await command('ps', '--no-start')).toBe(3)
  await offerTray()
  await startAlone('--hidden')
  const calls = () => command('ps', '--no-start')
  await expect.poll(calls).toBe(0)
  expect(await ask('windows')).toEqual([])
  expect(await command('open')).toBe(0)
  await expect.poll(() => ask('windows')).toMatchObject([{ visible: true }])
  expect(await command('stop', '1')).toBe(5)
  void command('quit')
  expect(await berth.process.ended).toBe(0)
})

test('the program with --cli starts itself with --hidden where Berth does not run', async () => {
  const { env, home } = berth.session
  // Stands in for the program, to record its arguments.
  const program = join(home, 'Berth.AppImage')
  await writeFile(program, `#!/bin/sh\nprintf '%s\\n' "$@" > ${home}/arguments\n`)
  await chmod(program, 0o755)
  env['APPIMAGE'] = program
  expect(await command('ps')).toBe(3)
  expect(await readFile(join(home, 'arguments'), 'utf8')).toMatch(/\n--hidden\n$/)
})
