import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'vitest'
import { startUnderDouble } from '../../electron/start-under-double.ts'
import type { TestSession } from '../local/session-bus.ts'
import { openShell } from './shell.ts'

/** What runs the program with --cli in that session and gives its exit code. */
const commandIn =
  ({ env }: TestSession) =>
  async (...args: string[]) =>
    (await startUnderDouble(env, ['--cli', ...args])).ended

test.concurrent('the program with --cli is the command: without a window, before the lock, and with its exit codes', async context => {
  const { expect } = context
  const berth = await openShell(context)
  const { offerTray, startAlone, ask } = berth
  const command = commandIn(berth.session)
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

// It waits five seconds for another Berth.
test.concurrent('the program with --cli starts itself with --hidden where Berth does not run', async context => {
  const { expect } = context
  const { session } = await openShell(context)
  const { env, home } = session
  // Stands in for the program, to record its arguments.
  const program = join(home, 'Berth.AppImage')
  await writeFile(program, `#!/bin/sh\nprintf '%s\\n' "$@" > ${home}/arguments\n`)
  await chmod(program, 0o755)
  env['APPIMAGE'] = program
  expect(await commandIn(session)('ps')).toBe(3)
  expect(await readFile(join(home, 'arguments'), 'utf8')).toMatch(/\n--hidden\n$/)
})
