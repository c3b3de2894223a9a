import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { useDesk } from '../desk.ts'
import { doTheJob } from './job.ts'

const withoutBus = { DBUS_SESSION_BUS_ADDRESS: '', XDG_RUNTIME_DIR: '' }
const desk = useDesk({ panel: false, notices: false, env: withoutBus })

test('the window and demo work without a session bus, with one warning', async () => {
  const berth = await desk.start('--hidden', '--speed', '60', 'berth://nowhere')
  const page = await berth.page()
  await page.getByText('This is the demo market.').waitFor()
  expect((await berth.state()).app).toMatchObject({ tray: false, notifications: false })
  const titles = async () => Object.values((await berth.state()).notices).map(({ title }) => title)
  await expect.poll(titles).toContainEqual(expect.stringContaining('this link'))
  await expect.poll(titles).toContain('This session has no D-Bus')
  await expect.poll(() => berth.printed.match(/^.*D-Bus.*no tray icon.*$/gm)).toHaveLength(1)
  await doTheJob(page)
  expect(berth.errors).toEqual([])
  await berth.close()
  expect(await berth.ended).toBe(0)
  await access(join(desk.home, 'told-no-bus'))
})
