import type { Browser } from 'playwright-core'
import type { Driver, Start } from './driver.ts'
import { ChromiumPages } from './pages/chromium-pages.ts'
import { startUnderDouble } from './start-under-double.ts'

/** Runs Berth's built main process under the double of Electron, with its windows as pages of that Chromium. */
export async function driveDouble(browser: Browser, { env, flags }: Start): Promise<Driver> {
  const pages = new ChromiumPages(browser)
  const double = await startUnderDouble({ ...env, BERTH_DOUBLE_PAGES: 'chromium' }, flags, pages.hear)
  pages.attach(double)
  const { ask } = double

  return {
    page: () => pages.page(),
    errors: () => pages.errors(),
    windowVisible: async () => (await ask('windows'))[0]?.visible,
    closeWindow: async () => void (await ask('closeWindow')),
    drop: (path, at) => pages.drop(path, at),
    trayMenu: async () => (await ask('tray'))?.menu,
    clickTray: async () => void (await ask('clickTray')),
    clickMenu: path => ask('clickMenu', [...path]),
    async notifications() {
      const shown = await ask('notifications')
      return shown.map(({ title = '', body = '', actions = [] }) => ({
        title,
        body,
        actions: actions.map(({ text = '' }) => text),
      }))
    },
    clickNotification: at => ask('clickNotification', at),
    async clickAction(at, label) {
      const actions = (await ask('notifications'))[at]?.actions ?? []
      await ask(
        'clickAction',
        at,
        actions.findIndex(({ text }) => text === label),
      )
    },
    copied: async () => (await ask('told')).copied,
    async questions() {
      const asked = await ask('questions')
      return asked.map(({ message, detail = '', buttons = [] }) => ({ message, detail, buttons }))
    },
    answer: label => ask('answer', label),
    async startAgain(args = []) {
      const second = await startUnderDouble(env, args)
      return second.ended
    },
    handlers: {
      navigates: (kind, url) => ask('navigates', kind, url),
      opens: async url => (await ask('opensWindow', url))?.action,
      attachesWebview: src => ask('attachesWebview', src),
      grants: async (permission, url) => (await ask('grants', permission, url)).request === true,
    },
    // The answer may not arrive.
    quit: () => ask('quit').catch(() => undefined),
    ended: double.ended,
    async stop() {
      double.kill()
      await double.ended
      await pages.close()
    },
  }
}
