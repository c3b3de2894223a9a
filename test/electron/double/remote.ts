import { app } from './app.ts'
import { questions } from './dialogs.ts'
import { clickItem, Menu, seenItems, type Template } from './menu.ts'
import { powerMonitor } from './modules.ts'
import { autoUpdater } from './net.ts'
import { notifications } from './notification.ts'
import { told } from './told.ts'
import { Tray, trays } from './tray.ts'
import type { Origin, WebContents } from './web-contents.ts'
import { type BrowserWindow, endSession, windows } from './window.ts'

/** The calls a test can make on the double, by name; answers are sent between processes. */
export const remote = {
  windows: () =>
    windows.map(window => ({
      visible: window.visible,
      focused: window.isFocused(),
      url: window.webContents.url,
      webRtcPolicy: window.webContents.webRtcPolicy,
      bounds: window.getBounds(),
      maximized: window.isMaximized(),
      shownBeforeDrawn: window.shownBeforeDrawn,
      icon: String(window.options.icon),
      backgroundColor: window.options.backgroundColor,
      preferences: { ...window.options.webPreferences },
    })),
  closeWindow: (at = 0) => windows[at]?.close(),
  /** From now on the page asks to stay when its window closes. */
  typeInto: (at = 0) => {
    page(at).unsaved = true
  },
  moveWindow: (bounds: Partial<Electron.Rectangle>, at = 0) => windows[at]?.setBounds(bounds),
  /** Sets the paths chosen in file dialogs from now on. */
  choose: (paths: string[]) => {
    told.chosenPaths = paths
  },
  dialogs: () => told.dialogs,
  /** The message boxes on screen, oldest first. */
  questions: () =>
    questions.map(({ options: { title, message, detail, buttons, defaultId = 0, cancelId = 0 } }) => ({
      title,
      message,
      detail,
      buttons,
      /** The buttons chosen by Enter and Escape. */
      enter: buttons?.[defaultId],
      escape: buttons?.[cancelId],
    })),
  /** Answers the oldest question by the beginning of a button's label. */
  answer: (label: string) => {
    const question = questions[0]
    const button = question?.options.buttons?.findIndex(text => text.startsWith(label)) ?? -1
    if (question === undefined || button < 0) throw new Error(`no question with a button ${label}`)
    question.answer(button)
  },
  tray: () =>
    trays.map(tray => ({
      tooltip: tray.tooltip,
      title: tray.title,
      menus: tray.menus,
      images: tray.images,
      /** The number of trays created so far. */
      made: Tray.made,
      menu: seenItems(trayMenu()),
    }))[0],
  clickTray: () => trays[0]?.emit('click', {}, trays[0].getBounds()),
  /** Clicks an entry, found by the beginnings of the labels on its path. */
  clickMenu: (path: string[]) => clickItem(trayMenu(), path),
  clickApplicationMenu: (path: string[]) => clickItem(Menu.getApplicationMenu()?.template ?? [], path),
  notifications: () => notifications.map(({ options, open }) => ({ ...options, open })),
  clickNotification: (at: number) => void notifications[at]?.emit('click', {}),
  /** Clicks a button of a notification. */
  clickAction: (at: number, actionIndex: number) =>
    void notifications[at]?.emit('action', { actionIndex, selectionIndex: -1 }, actionIndex, -1),
  post: (message: unknown, from?: Origin, at = 0) => page(at).post('berth', [message], from),
  sent: (at = 0) => page(at).sent,
  reload: () => void page().emit('did-start-navigation', { isMainFrame: true, isSameDocument: false }),
  /** The answer of the protocol handler. */
  async fetch(url: string, method = 'GET') {
    const answer = await told.handlers.get('app')?.(new Request(url, { method }))
    return (
      answer && {
        status: answer.status,
        headers: Object.fromEntries(answer.headers),
        bytes: new Uint8Array(await answer.arrayBuffer()),
      }
    )
  },
  /** Whether a navigation of that kind is allowed. */
  navigates: (
    kind: 'will-navigate' | 'will-redirect' | 'will-frame-navigate',
    url: string,
    isMainFrame = true,
  ) => page().allows(kind, { url, isMainFrame }),
  attachesWebview: (src = 'https://example.com', preferences: Electron.WebPreferences = {}) =>
    page().allows('will-attach-webview', {}, preferences, { src }),
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
    proxies: told.proxies,
    opened: told.opened,
    copied: told.copied,
    login: told.login,
    protocols: [...told.protocols],
    updateInstalls: told.updateInstalls,
    name: app.getName(),
    hasMenu: Menu.getApplicationMenu() !== null,
  }),
  secondInstance: (argv: string[] = []) => void app.emit('second-instance', {}, argv, '', null),
  openUrl: (url: string) => void app.emit('open-url', { preventDefault: () => undefined }, url),
  wake: () => void powerMonitor.emit('resume'),
  /** Starts a system shutdown; gives whether the system waits for this process. */
  systemShutsDown: () => powerMonitor.systemShutsDown(),
  /** Ends the user's session on Windows. */
  endSession: () => endSession(),
  /** Installs the fetched update, as on macOS. */
  installUpdate: () => autoUpdater.quitAndInstall(),
  /** Makes the desktop refuse notifications from now on. */
  refuseNotifications: () => {
    told.notificationsFail = true
  },
  /** Causes an uncaught error or an unhandled rejection. */
  fail: (how: 'error' | 'rejection') => {
    const error = new Error('nobody catches this')
    if (how === 'rejection') void Promise.reject(error)
    else
      setImmediate(() => {
        throw error
      })
  },
  quit: () => app.quit(),
  /** Runs a script in this process with `electron` as argument, as a debugger would; gives its result. */
  async evaluate(script: string): Promise<unknown> {
    return new Function('electron', script)(electron)
  },

  // Events of a page in Chromium, sent by the process that shows it.
  fromPage: (id: number, channel: string, args: unknown[], from: Origin) =>
    windowOf(id)?.webContents.post(channel, args, from),
  pageStarts: (id: number, url: string, isMainFrame: boolean) => {
    const contents = windowOf(id)?.webContents
    if (contents === undefined) return
    if (isMainFrame) contents.url = url
    contents.emit('did-start-navigation', { url, isMainFrame, isSameDocument: false })
  },
  pageReady: (id: number) => windowOf(id)?.webContents.ready(),
  pageNavigates: (id: number, url: string, isMainFrame: boolean) => {
    const contents = windowOf(id)?.webContents
    if (!contents) return false
    if (!contents.allows('will-frame-navigate', { url, isMainFrame })) return false
    return !isMainFrame || contents.allows('will-navigate', { url, isMainFrame }, url)
  },
  pageOpens: (id: number, url: string) => windowOf(id)?.webContents.openHandler?.({ url } as never).action,
  crashPage: () => page().crash(),
  /** Makes the next `count` reloads after a crash have no effect. */
  loseReloads: (count: number) => {
    page().lostReloads = count
  },
  /** Makes the page unresponsive, or responsive again. */
  pageHangs: (hangs: boolean) => void windows[0]?.emit(hangs ? 'unresponsive' : 'responsive'),
}
export type Remote = typeof remote

interface Ask {
  id: number
  name: keyof Remote
  args: unknown[]
}

/** Answers the calls of the test's process. */
export function listenToTest(double: unknown): void {
  electron = double

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

/** The whole double, for scripts run by `evaluate`. */
let electron: unknown

function windowOf(id: number): BrowserWindow | undefined {
  return windows.find(window => window.id === id)
}

function page(at = 0): WebContents {
  const window = windows[at]
  if (window === undefined) throw new Error('there is no window')
  return window.webContents
}

function trayMenu(): Template {
  return trays[0]?.menu?.template ?? []
}
