import { chmod, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runBerth } from '#test/berth/electron.ts'
import { useDesk } from '../desk.ts'

const desk = useDesk()
/** Runs the program as the command `berth`; gives its exit code. */
const command = (...args: string[]) => runBerth({ env: desk.session.env, flags: ['--cli', ...args] })

test('--cli runs the command without a window or lock, with its exit codes', async () => {
  expect(await command('ps', '--no-start')).toBe(3)
  const berth = await desk.startAlone('--hidden')
  await berth.connection()
  expect(await command('ps', '--no-start')).toBe(0)
  expect(await berth.windows()).toEqual([])
  expect(await command('open')).toBe(0)
  await expect.poll(() => berth.visible()).toBe(true)
  expect(await command('stop', '1')).toBe(5)
  expect(await command('quit')).toBe(0)
  expect(await berth.ended).toBe(0)
})

test('the program with --cli starts itself with --hidden where Berth does not run', async () => {
  // Stands in for the image, to record its arguments.
  const image = join(desk.session.home, 'Berth.AppImage')
  await desk.write(image, `#!/bin/sh\nprintf '%s\\n' "$@" > ${desk.session.home}/arguments\n`)
  await chmod(image, 0o755)
  desk.session.env['APPIMAGE'] = image
  expect(await command('ps')).toBe(3)
  expect(await readFile(join(desk.session.home, 'arguments'), 'utf8')).toMatch(/\n--hidden\n$/)
})
