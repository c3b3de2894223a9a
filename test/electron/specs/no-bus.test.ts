import { spawn } from 'node:child_process'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { useDesk } from '../desk.ts'
import { app, program } from '../program.ts'
import { doTheJob } from './job.ts'

const withoutBus = { DBUS_SESSION_BUS_ADDRESS: '', XDG_RUNTIME_DIR: '' }
const desk = useDesk({ panel: false, notices: false, env: withoutBus })

test('the window and demo work without a session bus', async () => {
  const berth = await desk.start('--hidden', '--speed', '60', 'berth://nowhere')
  const page = await berth.page()
  await page.getByText('This is the demo market.').waitFor()
  expect((await berth.state()).app).toMatchObject({ tray: false, notifications: false })
  const titles = async () => Object.values((await berth.state()).notices).map(({ title }) => title)
  await expect.poll(titles).toContainEqual(expect.stringContaining('this link'))
  await expect.poll(titles).toContain('This session has no D-Bus')
  await doTheJob(page)
  expect(berth.errors).toEqual([])
  await berth.close()
  expect(await berth.ended).toBe(0)
  await access(join(desk.home, 'told-no-bus'))
})

test('a start without a session bus prints one warning', async () => {
  // Without Playwright, which passes on only what is printed after it has connected.
  const child = spawn(program, [app, '--demo', '--hidden'], {
    cwd: '/',
    env: desk.session.env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let printed = ''
  child.stderr.on('data', chunk => {
    printed += chunk
  })
  await expect.poll(() => printed.match(/^.*D-Bus.*no tray icon.*$/gm) ?? []).toHaveLength(1)
})
