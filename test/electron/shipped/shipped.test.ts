import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSession } from '../../integration/local/session-bus.ts'
import { startTrayWatcher, type TrayWatcher } from '../../integration/local/tray-watcher.ts'
import { doTheJob } from '../specs/job.ts'
import { type NotificationService, startNotificationService } from './notification-service.ts'

/** The shipped program, with its fuses unchanged. */
const program = String(process.env['BERTH_SHIPPED'])
const onLinux = process.platform === 'linux'
/** Chromium's debugging port for the page; the main process is observed only from outside. */
const port = 21_987

let child: ChildProcess
let page: Page
let tray: TrayWatcher | undefined
let notifications: NotificationService | undefined
const endings: (() => unknown)[] = []

beforeAll(async () => {
  const home = await mkdtemp(join(tmpdir(), 'berth-shipped-'))
  endings.push(() => rm(home, { recursive: true, force: true, maxRetries: 20 }))
  const env = { ...(onLinux ? await session() : process.env), BERTH_HOME: join(home, 'berth') }
  child = spawn(program, ['--demo', '--speed', '60', `--remote-debugging-port=${port}`], {
    env,
    stdio: 'inherit',
  })
  endings.push(() => child.kill('SIGKILL'))
  await expect.poll(seesPage, { timeout: 60_000 }).toBe(true)
})
afterAll(async () => {
  for (const end of endings.splice(0).reverse()) await end()
})

/** A desktop session with tray and notifications, on the test's own display. */
async function session(): Promise<NodeJS.ProcessEnv> {
  const session = await startSession()
  endings.push(() => session.end())
  const bus = session.env['DBUS_SESSION_BUS_ADDRESS'] ?? ''
  tray = await startTrayWatcher(bus)
  endings.push(() => tray?.end())
  notifications = await startNotificationService(bus)
  endings.push(() => notifications?.end())
  const { DISPLAY, WAYLAND_DISPLAY } = process.env
  const screen = WAYLAND_DISPLAY ? { WAYLAND_DISPLAY, XDG_SESSION_TYPE: 'wayland' } : { DISPLAY }
  return { ...session.env, ...screen }
}

async function seesPage(): Promise<boolean> {
  const browser = await chromium.connectOverCDP(`http://127.0.0.1:${port}`).catch(() => undefined)
  const found = browser?.contexts()[0]?.pages()[0]
  if (found === undefined) return false
  page = found
  return true
}

const isVisible = () => page.evaluate(() => document.visibilityState === 'visible')

test('the shipped app rents a GPU, opens a terminal, notifies, and is shown from the tray', async () => {
  await page.getByText('This is the demo market.').waitFor()
  await doTheJob(page)
  if (!onLinux) return

  await page.evaluate(() =>
    window.berth?.post({ kind: 'command', call: 1e9, name: 'demoEvent', args: { event: 'low_credit' } }),
  )
  await expect.poll(() => notifications?.titles).toContainEqual(expect.stringContaining('of credit left'))

  await page.evaluate(() => window.close())
  await expect.poll(isVisible).toBe(false)
  await tray?.click()
  await expect.poll(isVisible).toBe(true)

  child.kill('SIGTERM')
  expect(await once(child, 'exit')).toEqual([0, null])
})
