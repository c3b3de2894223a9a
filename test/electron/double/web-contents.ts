import { EventEmitter } from 'node:events'
import type * as Electron from 'electron'
import { ipcMain } from './modules.ts'
import { session } from './session.ts'

/** Events for the process that started the double, which may show its pages in Chromium. */
export type DoubleEvent =
  | { event: 'load'; window: number; url: string }
  | { event: 'send'; window: number; channel: string; args: unknown[] }
  | { event: 'crash'; window: number }
  | { event: 'visibility'; window: number; visible: boolean; focused: boolean }
  | { event: 'close'; window: number }

export function tell(event: DoubleEvent): void {
  process.send?.(event)
}

/** Whether pages are shown in Chromium; otherwise the test acts as the page. */
export const hasPages = process.env['BERTH_DOUBLE_PAGES'] === 'chromium'

/** Whether pages never finish loading; set by tests. */
const neverLoads = process.env['BERTH_DOUBLE_LOADS'] === 'never'

type Open = Parameters<Electron.WebContents['setWindowOpenHandler']>[0]

/** The source of a page's message, by default its main frame. */
export interface Origin {
  url?: string
  parent?: object
}

type Doubled =
  | 'send'
  | 'isDestroyed'
  | 'setWindowOpenHandler'
  | 'getURL'
  | 'reload'
  | 'loadURL'
  | 'isDevToolsOpened'
  | 'openDevTools'
  | 'closeDevTools'
  | 'getZoomLevel'
  | 'setZoomLevel'
  | 'getType'
  | 'isCrashed'
  | 'forcefullyCrashRenderer'
  | 'setWebRTCIPHandlingPolicy'

/** A window's page. Without Chromium the test acts as the page, and messages to it are recorded. */
export class WebContents extends EventEmitter implements Pick<Electron.WebContents, Doubled> {
  readonly id: number
  readonly session = session.defaultSession
  readonly sent: unknown[] = []
  openHandler: Open | undefined
  destroyed = false
  crashed = false
  url = ''
  devTools = false
  lostReloads = 0
  webRtcPolicy = 'default'
  /** Whether the page's `beforeunload` asks to stay; set by tests. */
  unsaved = false
  #zoom = 0

  constructor(id: number) {
    super()
    this.id = id
  }

  send(channel: string, ...args: unknown[]): void {
    // Electron clones messages, and throws if that fails.
    const cloned = structuredClone(args)
    if (!hasPages) this.sent.push([channel, ...cloned])
    tell({ event: 'send', window: this.id, channel, args: cloned })
  }

  isDestroyed(): boolean {
    return this.destroyed
  }

  isCrashed(): boolean {
    return this.crashed
  }

  getType(): 'window' {
    return 'window'
  }

  setWebRTCIPHandlingPolicy(policy: string): void {
    this.webRtcPolicy = policy
  }

  setWindowOpenHandler(handler: Open): void {
    this.openHandler = handler
  }

  getURL(): string {
    return this.url
  }

  async loadURL(url: string): Promise<void> {
    this.crashed = false
    this.url = url
    tell({ event: 'load', window: this.id, url })
    if (hasPages) return
    this.emit('did-start-navigation', { isMainFrame: true, isSameDocument: false, url })
    if (!neverLoads) setImmediate(() => this.ready())
  }

  /** Right after a crash it may start no process (electron/electron#48661); tests set how often. */
  reload(): void {
    if (this.crashed && this.lostReloads-- > 0) return
    void this.loadURL(this.url)
  }

  /** electron_javascript_dialog_manager.cc, `RunBeforeUnloadDialog`: shows no dialog; who prevents lets the page go. */
  keepsWindow(): boolean {
    return this.unsaved && this.allows('will-prevent-unload', {})
  }

  /** Reports the page as loaded and drawn. */
  ready(): void {
    this.emit('dom-ready', {})
    this.emit('did-finish-load', {})
  }

  /** Ends the page's process as a crash does. */
  crash(): void {
    this.crashed = true
    tell({ event: 'crash', window: this.id })
    this.emit('render-process-gone', {}, { reason: 'crashed', exitCode: 139 })
  }

  forcefullyCrashRenderer(): void {
    this.crash()
  }

  openDevTools(): void {
    this.devTools = true
  }

  closeDevTools(): void {
    this.devTools = false
  }

  isDevToolsOpened(): boolean {
    return this.devTools
  }

  getZoomLevel(): number {
    return this.#zoom
  }

  setZoomLevel(level: number): void {
    this.#zoom = level
  }

  /** Delivers a message of the page, from its main frame unless `from` names another. */
  post(channel: string, args: readonly unknown[], from: Origin = {}): void {
    const senderFrame = { url: from.url ?? this.url, parent: from.parent ?? null }
    ipcMain.emit(channel, { sender: this, senderFrame }, ...structuredClone(args))
  }

  /** Emits an event that the shell may prevent; gives whether it did not. */
  allows(name: string, details: object, ...more: unknown[]): boolean {
    let prevented = false
    const preventDefault = () => {
      prevented = true
    }
    this.emit(name, { ...details, preventDefault }, ...more)
    return !prevented
  }
}
