import {
  app,
  BrowserWindow,
  clipboard,
  dialog,
  type MenuItem,
  type MessageBoxOptions,
  Notification,
  Tray,
  type WindowOpenHandlerResponse,
} from 'electron'
import type { SeenItem } from '../double/menu.ts'

/**
 * Loaded into a real Electron's main process to record tray, notifications and message boxes, which Electron does not
 * expose. Message boxes are not drawn and wait for the spec's answer. Loaded before Berth's main process it sees
 * everything; after it, as in a package, only later menus of the tray, and not the handlers that a window and a session
 * got at their start.
 */
let tray: Tray | undefined
let menu: Electron.Menu | null = null
const notifications: { shown: Notification; options: Electron.NotificationConstructorOptions }[] = []
const questions: { options: MessageBoxOptions; answer(response: number): void }[] = []
let permissionHandler: Parameters<Electron.Session['setPermissionRequestHandler']>[0] = null
let openHandler: ((details: Electron.HandlerDetails) => WindowOpenHandlerResponse) | undefined

const setContextMenu = Tray.prototype.setContextMenu
Tray.prototype.setContextMenu = function (given) {
  tray = this
  menu = given
  setContextMenu.call(this, given)
}

Notification.prototype.show = function () {
  const { title, body, actions } = this
  notifications.push({ shown: this, options: { title, body, actions } })
  // The desktop's notification service is not tested here.
  this.emit('show', {})
}

dialog.showMessageBox = (...given: [MessageBoxOptions] | [Electron.BaseWindow, MessageBoxOptions]) =>
  new Promise(resolve => {
    const options = given.at(-1) as MessageBoxOptions
    const question = {
      options,
      answer(response: number) {
        questions.splice(questions.indexOf(question), 1)
        resolve({ response, checkboxChecked: false })
      },
    }
    questions.push(question)
  })

app.on('web-contents-created', (_event, contents) => {
  const set = contents.setWindowOpenHandler.bind(contents)
  contents.setWindowOpenHandler = handler => {
    openHandler = handler
    set(handler)
  }
})

app.on('session-created', session => {
  const set = session.setPermissionRequestHandler.bind(session)
  session.setPermissionRequestHandler = handler => {
    permissionHandler = handler
    set(handler)
  }
})

/** The functions that specs call by name, in Electron's main process. */
const watch = {
  windowVisible: () => BrowserWindow.getAllWindows()[0]?.isVisible(),
  closeWindow: () => BrowserWindow.getAllWindows()[0]?.close(),
  trayMenu: () => (tray === undefined || tray.isDestroyed() ? undefined : seen(menu?.items ?? [])),
  clickTray: () => void tray?.emit('click', {}, tray.getBounds()),
  clickMenu(path: readonly string[]) {
    let items = menu?.items ?? []
    for (const [depth, begin] of path.entries()) {
      const item = items.find(({ label }) => label.startsWith(begin))
      if (item === undefined)
        throw new Error(`no entry ${begin} among ${items.map(({ label }) => label).join(', ')}`)
      if (depth < path.length - 1) items = item.submenu?.items ?? []
      else if (item.enabled) item.click()
      else throw new Error(`${item.label} cannot be clicked`)
    }
  },
  notifications: () =>
    notifications.map(({ options: { title = '', body = '', actions = [] } }) => ({
      title,
      body,
      actions: actions.map(({ text = '' }) => text),
    })),
  forgetNotifications: () => void notifications.splice(0),
  clickNotification: (at: number) => void notifications[at]?.shown.emit('click', {}),
  clickAction(at: number, label: string) {
    const actionIndex = notifications[at]?.options.actions?.findIndex(({ text }) => text === label) ?? -1
    notifications[at]?.shown.emit('action', { actionIndex, selectionIndex: -1 }, actionIndex, -1)
  },
  copied: () => clipboard.readText(),
  questions: () =>
    questions.map(({ options: { message, detail = '', buttons = [] } }) => ({ message, detail, buttons })),
  answer(label: string) {
    const question = questions[0]
    const button = question?.options.buttons?.findIndex(text => text.startsWith(label)) ?? -1
    if (question === undefined || button < 0) throw new Error(`no question with a button ${label}`)
    question.answer(button)
  },
  navigates: (kind: string, url: string) => allows(kind, { url, isMainFrame: true }),
  opens: (url: string) => openHandler?.({ url } as Electron.HandlerDetails).action,
  attachesWebview: (src: string) => allows('will-attach-webview', {}, {}, { src }),
  grants(permission: string, requestingUrl: string) {
    const [window] = BrowserWindow.getAllWindows()
    let granted = false
    const answer = (yes: boolean) => {
      granted = yes
    }
    if (window)
      permissionHandler?.(window.webContents, permission as never, answer, { requestingUrl } as never)
    return granted
  },
  quit: () => app.quit(),
}
export type Watch = typeof watch

declare global {
  var berthWatch: Watch | undefined
}
globalThis.berthWatch = watch

function allows(name: string, details: object, ...more: unknown[]): boolean {
  let prevented = false
  const preventDefault = () => {
    prevented = true
  }
  // Emits by name, since the declarations type each event separately.
  const contents = BrowserWindow.getAllWindows()[0]?.webContents as NodeJS.EventEmitter | undefined
  contents?.emit(name, { ...details, preventDefault }, ...more)
  return !prevented
}

function seen(items: readonly MenuItem[]): SeenItem[] {
  return items
    .filter(({ visible }) => visible)
    .map(({ type, label, enabled, submenu }) => ({
      label: type === 'separator' ? '---' : label,
      enabled,
      ...(submenu && { submenu: seen(submenu.items) }),
    }))
}
