import { EventEmitter } from 'node:events'
import type * as Electron from 'electron'
import { SingleInstance } from './single-instance.ts'
import { told } from './told.ts'

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

/** Where a package keeps what lies beside its archive; a test says where, for one that is packed. */
const resources = process.env['BERTH_DOUBLE_RESOURCES']
if (resources !== undefined) Object.defineProperty(process, 'resourcesPath', { value: resources })

/** The notification whose click started this program, as macOS tells of it; a test says which. */
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

/** Events are Node's own: their names are checked where the shell listens, against the real declarations. */
class App extends EventEmitter implements Pick<Electron.App, Doubled> {
  readonly isPackaged = resources !== undefined
  readonly commandLine = {
    appendSwitch: (name: string) => {
      if (told.ready) throw new Error('switches are read before Electron is ready')
      told.switches.push(name)
    },
    hasSwitch: (name: string) => told.switches.includes(name),
  } satisfies Pick<Electron.CommandLine, 'appendSwitch' | 'hasSwitch'>
  readonly #instance = new SingleInstance((argv, folder) => this.emit('second-instance', {}, argv, folder))
  #name = 'berth'

  constructor() {
    super()
    // As Electron: ready soon after the main module has run to its end.
    setTimeout(() => {
      told.ready = true
      this.emit('ready', {}, launch)
    })
  }

  whenReady(): Promise<void> {
    return told.ready ? Promise.resolve() : new Promise(resolve => this.once('ready', () => resolve()))
  }

  isReady(): boolean {
    return told.ready
  }

  /** As Electron does: everyone may still prevent it. */
  quit(): void {
    for (const name of ['before-quit', 'will-quit']) {
      let prevented = false
      this.emit(name, {
        preventDefault: () => {
          prevented = true
        },
      })
      if (prevented) return
    }
    this.exit(0)
  }

  exit(code = 0): void {
    this.#instance.release()
    this.emit('quit', {}, code)
    process.exit(code)
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
    told.protocols.add(scheme)
    return true
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

export const app = new App()
