import { app, powerMonitor, told } from './modules.ts'
import { notifications } from './notification.ts'
import { trays } from './tray.ts'
import { type WebContents, windows } from './window.ts'

/** An entry of a menu, as a test sees it. */
export interface SeenItem {
  label: string
  enabled: boolean
  submenu?: SeenItem[]
}

/** All that a test may ask of the double, by name; the answers travel between processes. */
export const remote = {
  windows: () =>
    windows.map(({ visible, options, webContents }) => ({
      visible,
      url: webContents.url,
      backgroundColor: options.backgroundColor,
      preferences: { ...options.webPreferences },
    })),
  closeWindow: () => windows[0]?.close(),
  /** From now on the user chooses these in dialogs for files. */
  choose: (paths: string[]) => {
    told.chosenPaths = paths
  },
  dialogs: () => told.dialogs,
  tray: () =>
    trays.map(tray => ({
      tooltip: tray.tooltip,
      menus: tray.menus,
      menu: seen(tray.menu?.template ?? []),
    }))[0],
  clickTray: () => trays[0]?.emit('click'),
  /** Clicks the entry whose label, and those of the menus it is in, begin so. */
  clickMenu: (path: string[]) => {
    let items = trays[0]?.menu?.template ?? []
    for (const [depth, begin] of path.entries()) {
      const item = items.find(({ label }) => label?.startsWith(begin))
      if (item === undefined)
        throw new Error(`no entry ${begin} among ${items.map(({ label }) => label).join(', ')}`)
      if (depth === path.length - 1) return void click(item)
      items = Array.isArray(item.submenu) ? item.submenu : []
    }
  },
  notifications: () => notifications.map(({ options, open }) => ({ ...options, open })),
  clickNotification: (at: number) => void notifications[at]?.emit('click', {}),
  post: (message: unknown, from?: { url?: string; parent?: object }) => page().post('berth', message, from),
  sent: () => page().sent,
  reload: () => void page().emit('did-start-navigation', { isMainFrame: true, isSameDocument: false }),
  async fetch(url: string, method = 'GET') {
    const answer = await told.handlers.get('app')?.(new Request(url, { method }))
    return (
      answer && {
        status: answer.status,
        headers: Object.fromEntries(answer.headers),
        body: await answer.text(),
      }
    )
  },
  /** Whether a navigation of that kind is prevented. */
  navigates: (
    kind: 'will-navigate' | 'will-redirect' | 'will-frame-navigate',
    url: string,
    isMainFrame = true,
  ) => {
    let prevented = false
    const preventDefault = () => {
      prevented = true
    }
    page().emit(kind, { url, isMainFrame, preventDefault })
    return !prevented
  },
  attachesWebview: () => {
    let prevented = false
    const preventDefault = () => {
      prevented = true
    }
    page().emit('will-attach-webview', { preventDefault }, {}, { src: 'https://example.com' })
    return !prevented
  },
  opensWindow: (url: string) => page().openHandler?.({ url } as never),
  grants: (permission: string, url: string) => {
    const asked: boolean[] = []
    const answer = (granted: boolean) => asked.push(granted)
    told.permissionRequest?.(page() as never, permission as never, answer, { requestingUrl: url } as never)
    const checked = told.permissionCheck?.(page() as never, permission as never, url, {} as never)
    return { request: asked[0], check: checked, device: told.devicePermission?.({} as never) }
  },
  told: () => ({
    paths: Object.fromEntries(told.paths),
    switches: told.switches,
    schemes: told.schemes,
    spellChecker: told.spellChecker,
  }),
  secondInstance: () => void app.emit('second-instance', {}, [], ''),
  wake: () => void powerMonitor.emit('resume'),
  quit: () => app.quit(),
}
export type Remote = typeof remote

interface Ask {
  id: number
  name: keyof Remote
  args: unknown[]
}

/** Answers what the test's process asks. */
export function listenToTest(): void {
  process.on('message', ({ id, name, args }: Ask) => {
    const call = remote[name] as (...args: unknown[]) => unknown
    Promise.resolve()
      .then(() => call(...args))
      .then(
        answer => process.send?.({ id, answer }),
        (error: unknown) => process.send?.({ id, error: String(error) }),
      )
  })
}

function page(): WebContents {
  const window = windows[0]
  if (window === undefined) throw new Error('there is no window')
  return window.webContents
}

function seen(template: readonly Electron.MenuItemConstructorOptions[]): SeenItem[] {
  return template.map(({ type, label = '', enabled = true, submenu }) => ({
    label: type === 'separator' ? '---' : label,
    enabled,
    ...(Array.isArray(submenu) && { submenu: seen(submenu) }),
  }))
}

function click(item: Electron.MenuItemConstructorOptions): void {
  if (item.enabled === false) throw new Error(`${item.label} cannot be clicked`)
  item.click?.({} as never, undefined, {} as never)
}
