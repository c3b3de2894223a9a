import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { Settings } from '../../../electron/contract/app/settings.ts'
import { test } from '../../e2e/fixtures.ts'
import { startSession, type TestSession } from '../../integration/local/session-bus.ts'
import { startTrayWatcher, type TrayWatcher } from '../../integration/local/tray-watcher.ts'
import { driveDouble } from '../double-driver.ts'
import type { Driver } from '../driver.ts'
import { driveElectron, isPackage } from '../real/electron-driver.ts'

/** The program for the specs: Electron or a packaged Berth. Unset, they run under the double. */
const electron = process.env['BERTH_ELECTRON']
export const underDouble = electron === undefined
/** Whether the watch is loaded before Berth, which is not possible in a package. */
export const watchedFromStart = electron === undefined || !isPackage(electron)

/** A user's desktop session with a tray, in which Berth is started. */
export interface Desk {
  session: TestSession
  /** Berth's folder. */
  home: string
  /** Further environment variables for later starts of Berth. */
  readonly env: NodeJS.ProcessEnv
  start(...flags: string[]): Promise<Driver>
  /** Writes the settings file, before Berth starts. */
  settings(settings: Partial<Settings>): Promise<void>
  /** The URLs opened in the user's browser. */
  opened(): Promise<string[]>
}

let browser: Browser | undefined
const endings: (() => unknown)[] = []

/** Gives each test of a file its own desk, or all tests one; everything started on it ends with it. */
export function useDesk(of: 'each test' | 'the file' = 'each test'): Desk {
  let session: TestSession
  let watcher: TrayWatcher
  const desk: Desk = {
    get session() {
      return session
    },
    env: {},
    get home() {
      return join(session.home, 'berth')
    },
    async start(...flags) {
      const path = `${join(session.home, 'bin')}:${session.env['PATH'] ?? ''}`
      const own = { BERTH_HOME: desk.home, TMPDIR: session.home, PATH: path }
      // Only a real window needs a display.
      const screen = underDouble ? {} : { DISPLAY: process.env['DISPLAY'] }
      const env = { ...session.env, ...own, ...screen, ...desk.env }
      const driver =
        browser === undefined
          ? await driveElectron(String(electron), { env, flags: ['--demo', ...flags] })
          : await driveDouble(browser, { env, flags: ['--demo', ...flags] })
      endings.push(() => driver.stop())
      await expect.poll(() => driver.windowVisible(), { timeout: 60_000 }).toBe(true)
      return driver
    },
    async settings(settings) {
      await mkdir(desk.home, { recursive: true })
      await writeFile(join(desk.home, 'settings.json'), JSON.stringify(settings))
    },
    async opened() {
      const text = await readFile(join(session.home, 'opened'), 'utf8').catch(() => '')
      return text.split('\n').filter(line => line !== '')
    },
  }

  if (underDouble)
    test.beforeAll(({ browser: shared }) => {
      browser = shared
    })
  const [begin, end] = of === 'the file' ? [beforeAll, afterAll] : [beforeEach, afterEach]
  begin(async () => {
    session = await startSession()
    endings.push(() => session.end())
    watcher = await startTrayWatcher(session.env['DBUS_SESSION_BUS_ADDRESS'] ?? '')
    endings.push(() => watcher.end())
    await writeOpener(session.home)
  })
  end(async () => {
    for (const end of endings.splice(0).reverse()) await end()
  })
  return desk
}

/** Writes an xdg-open that only records its URL. */
async function writeOpener(home: string): Promise<void> {
  await mkdir(join(home, 'bin'))
  const program = join(home, 'bin', 'xdg-open')
  await writeFile(program, `#!/bin/sh\nprintf '%s\\n' "$1" >> '${join(home, 'opened')}'\n`)
  await chmod(program, 0o755)
}
