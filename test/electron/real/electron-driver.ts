import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { _electron, type Page } from 'playwright-core'
import type { Driver, Start } from '../driver.ts'
import { dropOn } from '../pages/drop-on.ts'
import { bundleWatch, writeWatch } from './bundle-watch.ts'
import type { Watch } from './watch.ts'

const root = new URL('../../../', import.meta.url).pathname

/** Whether the program is a packaged Berth, which only runs its own archive, and not Electron itself. */
export function isPackage(program: string): boolean {
  return existsSync(join(dirname(program), 'resources/app.asar'))
}

/** Runs Berth in a real Electron: the built main process, or a package with the inspect fuse enabled. */
export async function driveElectron(program: string, { env, flags }: Start): Promise<Driver> {
  const packaged = isPackage(program)
  const watch = await bundleWatch()
  const given = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  const first = packaged ? [] : ['-r', await writeWatch(watch, env['TMPDIR'] ?? '/tmp'), root]
  const electron = await _electron.launch({
    executablePath: program,
    args: [...first, ...flags],
    cwd: root,
    env: Object.fromEntries(given),
    // Otherwise the driver would disable the sandbox that the specs check.
    chromiumSandbox: true,
  })
  const child = electron.process()
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  const errors: string[] = []
  electron.on('window', page => listen(page, errors))

  /** Calls a function of watch.ts in the main process. */
  function ask<Name extends keyof Watch>(
    name: Name,
    ...args: Parameters<Watch[Name]>
  ): Promise<Awaited<ReturnType<Watch[Name]>>> {
    return electron.evaluate(
      (_electronModule, [asked, given]) => {
        const call = globalThis.berthWatch?.[asked] as ((...all: unknown[]) => never) | undefined
        if (call === undefined) throw new Error('the watch was not loaded')
        return call(...given)
      },
      [name, args] as const,
    )
  }

  if (packaged) {
    await electron.evaluate((module, script) => new Function('electron', script)(module), watch)
    await seeTray(await electron.firstWindow(), () => ask('trayMenu'))
    await ask('forgetNotifications')
  }

  return {
    page: () => electron.firstWindow(),
    errors: () => errors,
    windowVisible: () => ask('windowVisible'),
    closeWindow: async () => void (await ask('closeWindow')),
    async drop(path, at) {
      const page = await electron.firstWindow()
      await dropOn(await page.context().newCDPSession(page), path, at)
    },
    trayMenu: () => ask('trayMenu'),
    clickTray: () => ask('clickTray'),
    clickMenu: path => ask('clickMenu', path),
    notifications: () => ask('notifications'),
    clickNotification: at => ask('clickNotification', at),
    clickAction: (at, label) => ask('clickAction', at, label),
    copied: () => ask('copied'),
    questions: () => ask('questions'),
    answer: label => ask('answer', label),
    async startAgain(args = []) {
      const second = spawn(program, [...(packaged ? [] : [root]), ...args], {
        cwd: root,
        env,
        stdio: 'ignore',
      })
      const [code] = await once(second, 'exit')
      return code
    },
    handlers: {
      navigates: (kind, url) => ask('navigates', kind, url),
      opens: url => ask('opens', url),
      attachesWebview: src => ask('attachesWebview', src),
      grants: (permission, url) => ask('grants', permission, url),
    },
    // The answer may not arrive.
    quit: () => ask('quit').catch(() => undefined),
    ended,
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

function listen(page: Page, errors: string[]): void {
  page.on('pageerror', error => errors.push(error.message))
  page.on('console', message => message.type() === 'error' && errors.push(message.text()))
}

/** Changes the tray's menu and back, since a watch added late sees only menus set after that. */
async function seeTray(page: Page, menu: () => Promise<unknown>): Promise<void> {
  const give = (name: string, args: unknown) =>
    page.evaluate(
      ([name, args]) => window.berth?.post({ kind: 'command', call: 1e9, name: String(name), args }),
      [name, args],
    )
  await page.locator('nav').first().waitFor()
  await give('pausePolling', { minutes: 60 })
  while ((await menu()) === undefined) await setTimeout(50)
  await give('resumePolling', {})
}
