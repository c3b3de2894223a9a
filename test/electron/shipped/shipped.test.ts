import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { TestSession } from '#test/integration/platform/session-bus.ts'
import { doTheJob } from '../specs/job.ts'
import { startSway } from '../sway.ts'
import { type Endings, openSession, user, x11 } from './session.ts'

/** The shipped program, with its fuses unchanged. */
let program = String(process.env['BERTH_SHIPPED'])
/** Chromium's debugging port for the page; the main process is observed only from outside. */
const port = 21_987

const endings: Endings = []
const endingsOfAll: Endings = []
afterEach(() => endAll(endings))
afterAll(() => endAll(endingsOfAll))

async function endAll(list: Endings): Promise<void> {
  for (const end of list.splice(0).reverse()) await end()
}

beforeAll(async () => {
  if (!user) return
  // Often another user can't read a clone of root's.
  const folder = await mkdtemp(join(tmpdir(), 'berth-shipped-'))
  endingsOfAll.push(() => rm(folder, { recursive: true, force: true }))
  await cp(dirname(program), folder, { recursive: true })
  execFileSync('chmod', ['-R', 'a+rX', folder])
  program = join(folder, basename(program))
})

/** Starts the program; it ends with the test. */
function start(env: NodeJS.ProcessEnv, ...flags: string[]): ChildProcess {
  const args = ['--demo', '--speed', '60', `--remote-debugging-port=${port}`, ...flags]
  const child = spawn(program, args, { ...user, cwd: '/', env, stdio: 'inherit' })
  endings.push(() => child.kill('SIGKILL'))
  return child
}

/** The page of Berth's window, once there is one. */
async function openedPage(): Promise<Page> {
  let browser: Browser | undefined
  let page: Page | undefined
  const look = async () => {
    browser ??= await chromium.connectOverCDP(`http://127.0.0.1:${port}`).catch(() => undefined)
    page = browser?.contexts()[0]?.pages()[0]
    return page !== undefined
  }
  await expect.poll(look).toBe(true)
  return page ?? expect.fail('no page')
}

test.runIf(process.platform === 'linux').each([
  ['X11', x11, []],
  // Before version 38 Electron took X11 without a switch.
  ['Wayland', (session: TestSession) => startSway(session), ['--ozone-platform=wayland']],
])(
  'under %s it comes from the tray, rents a GPU, opens a terminal, notifies, and ends with 0',
  async (name, screen, flags) => {
    const { session, panel, notices } = await openSession(endings, screen)
    const env = { ...session.env, BERTH_HOME: join(session.home, 'berth') }
    const child = start(env, '--hidden', ...flags)
    const hasIcon = async () => (await panel.icons.menu().catch(() => undefined)) !== undefined
    await expect.poll(hasIcon).toBe(true)
    await panel.icons.click()
    const page = await openedPage()
    await page.getByText('This is the demo market.').waitFor()
    await doTheJob(page)
    await panel.icons.clickMenu(['Simulate an event', 'The credit runs low'])
    const titles = () => notices.shown.map(({ title }) => title)
    await expect.poll(titles).toContainEqual(expect.stringContaining('of credit left'))

    // No client of a Wayland desktop can close another's window.
    if (name === 'X11') {
      // As the window manager sees it: to a driven page its window is always visible.
      const windows = async () => (await session.run('wmctrl', ['-l'])).output
      await expect.poll(windows).toContain('Berth')
      await session.run('wmctrl', ['-c', 'Berth'])
      await expect.poll(windows).not.toContain('Berth')
      await panel.icons.click()
      await expect.poll(windows).toContain('Berth')
    }
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  },
)

test.skipIf(process.platform === 'linux')('it rents a GPU and opens a terminal', async () => {
  const home = await mkdtemp(join(tmpdir(), 'berth-shipped-'))
  endings.push(() => rm(home, { recursive: true, force: true, maxRetries: 20 }))
  start({ ...process.env, BERTH_HOME: join(home, 'berth') })
  const page = await openedPage()
  await page.getByText('This is the demo market.').waitFor()
  await doTheJob(page)
})
