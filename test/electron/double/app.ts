import { EventEmitter } from 'node:events'
import type * as Electron from 'electron'
import project from '../../../package.json' with { type: 'json' }
import { setDefaultWebClient } from './desktop-files.ts'
import { takeOverSignals } from './signals.ts'
import { SingleInstance } from './single-instance.ts'
import { told } from './told.ts'
import { windowList } from './window-list.ts'

type Doubled =
  | 'whenReady'
  | 'isReady'
  | 'quit'
  | 'exit'
  | 'setPath'
  | 'getPath'
  | 'getName'
  | 'setName'
  | 'getVersion'
  | 'getAppPath'
  | 'getLocale'
  | 'isPackaged'
  | 'requestSingleInstanceLock'
  | 'hasSingleInstanceLock'
  | 'releaseSingleInstanceLock'
  | 'enableSandbox'
  | 'setLoginItemSettings'
  | 'getLoginItemSettings'
  | 'setAsDefaultProtocolClient'
  | 'isDefaultProtocolClient'
  | 'removeAsDefaultProtocolClient'
  | 'setAppUserModelId'
  | 'setDesktopName'
  | 'setAboutPanelOptions'
  | 'showAboutPanel'
  | 'focus'
  | 'show'
  | 'hide'
  | 'setBadgeCount'

/** The resources folder beside a package's archive; set by tests of a packaged app. */
const resources = process.env['BERTH_DOUBLE_RESOURCES']
if (resources !== undefined) Object.defineProperty(process, 'resourcesPath', { value: resources })

/** The notification whose click started the app on macOS; set by tests. */
const notice = process.env['BERTH_DOUBLE_NOTICE']
const launch =
  notice === undefined
    ? {}
    : ({
        actionIdentifier: 'com.apple.UNNotificationDefaultActionIdentifier',
        date: 0,
        identifier: notice,
        userInfo: {},
      } satisfies Electron.NotificationResponse)

/** Events are Node's; their names are checked against Electron's declarations where the shell listens. */
class App extends EventEmitter implements Pick<Electron.App, Doubled> {
  readonly isPackaged = resources !== undefined
  readonly commandLine = {
    appendSwitch: (name: string) => {
      if (told.ready) throw new Error('switches are read before Electron is ready')
      told.switches.push(name)
    },
    hasSwitch: (name: string) => told.switches.includes(name) || process.argv.includes(`--${name}`),
  } satisfies Pick<Electron.CommandLine, 'appendSwitch' | 'hasSwitch'>
  readonly #instance = new SingleInstance((argv, folder) => this.emit('second-instance', {}, argv, folder))
  /** init.ts: the product's name before the package's. */
  #name: string = project.productName
  #quitting = false
  #exiting = false

  constructor() {
    super()
    // As in Electron: ready soon after the main module has finished.
    setTimeout(() => {
      takeOverSignals(() => this.quit())
      told.ready = true
      this.emit('ready', {}, launch)
    })
    windowList.onAllClosed.push(() => this.#allClosed())
    windowList.onCloseCancelled.push(() => {
      this.#quitting = false
    })
  }

  whenReady(): Promise<void> {
    return told.ready ? Promise.resolve() : new Promise(resolve => this.once('ready', () => resolve()))
  }

  isReady(): boolean {
    return told.ready
  }

  /** Whether a quit is under way (browser.h, `is_quitting`). */
  get isQuitting(): boolean {
    return this.#quitting
  }

  /** browser.cc, `Browser::Quit`: listeners may prevent it, and so may each window. */
  quit(): void {
    if (this.#quitting) return
    this.#quitting = !this.#isPrevented('before-quit')
    if (!this.#quitting) return
    if (windowList.isEmpty()) this.#shutDown()
    else windowList.closeAll()
  }

  /** browser.cc, `Browser::ExitWithCode`: destroys windows without asking; before ready it is Node's own exit. */
  exit(code = 0): void {
    this.#instance.release()
    if (told.ready && !this.#exiting) {
      this.#quitting = true
      this.#exiting = true
      windowList.destroyAll()
      this.emit('quit', {}, code)
    }
    leave(code)
  }

  /** browser.cc, `Browser::OnWindowAllClosed`. */
  #allClosed(): void {
    if (this.#exiting) return
    if (this.#quitting) this.#shutDown()
    else this.emit('window-all-closed')
  }

  /** browser.cc, `Browser::NotifyAndShutdown`. */
  #shutDown(): void {
    this.#quitting = !this.#isPrevented('will-quit')
    if (this.#quitting) this.exit(0)
  }

  #isPrevented(name: string): boolean {
    let prevented = false
    this.emit(name, {
      preventDefault: () => {
        prevented = true
      },
    })
    return prevented
  }

  setPath(name: string, path: string): void {
    told.paths.set(name, path)
  }

  getPath(name: string): string {
    return told.paths.get(name) ?? ''
  }

  getName(): string {
    return this.#name
  }

  setName(name: string): void {
    this.#name = name
  }

  getVersion(): string {
    return '0.0.0'
  }

  getAppPath(): string {
    return process.cwd()
  }

  getLocale(): string {
    return 'en-US'
  }

  requestSingleInstanceLock(): boolean {
    return this.#instance.request(this.getPath('userData'))
  }

  hasSingleInstanceLock(): boolean {
    return this.#instance.isFirst
  }

  releaseSingleInstanceLock(): void {
    this.#instance.release()
  }

  enableSandbox(): void {
    if (told.ready) throw new Error('the sandbox is enabled before Electron is ready')
    told.switches.push('enable-sandbox')
  }

  setLoginItemSettings(settings: Electron.Settings): void {
    told.login = settings
  }

  getLoginItemSettings(): Electron.LoginItemSettings {
    const openAtLogin = told.login.openAtLogin ?? false
    return {
      openAtLogin,
      wasOpenedAtLogin: false,
      status: openAtLogin ? 'enabled' : 'not-registered',
      executableWillLaunchAtLogin: openAtLogin,
      launchItems: [],
    }
  }

  setAsDefaultProtocolClient(scheme: string): boolean {
    const done = setDefaultWebClient(project.desktopName)
    if (done) told.protocols.add(scheme)
    return done
  }

  isDefaultProtocolClient(scheme: string): boolean {
    return told.protocols.has(scheme)
  }

  removeAsDefaultProtocolClient(scheme: string): boolean {
    return told.protocols.delete(scheme)
  }

  setBadgeCount(): boolean {
    return false
  }

  setAppUserModelId(_id: string): void {}
  setDesktopName(_name: string): void {}
  setAboutPanelOptions(_options: Electron.AboutPanelOptionsOptions): void {}
  showAboutPanel(): void {}
  focus(): void {}
  show(): void {}
  hide(): void {}
}

const leave = process.exit.bind(process)

export const app = new App()

// init.ts: ending the process ends the app.
process.exit = ((code?: number | string | null) => app.exit(Number(code ?? process.exitCode ?? 0))) as never
