import { EventEmitter } from 'node:events'
import type * as Electron from 'electron'
import { ipcMain } from './modules.ts'
import { session } from './session.ts'

/** What the double tells the process that started it, which may show its windows' pages in Chromium. */
export type DoubleEvent =
  | { event: 'load'; window: number; url: string }
  | { event: 'send'; window: number; channel: string; args: unknown[] }
  | { event: 'crash'; window: number }
  | { event: 'visibility'; window: number; visible: boolean; focused: boolean }
  | { event: 'close'; window: number }

export function tell(event: DoubleEvent): void {
  process.send?.(event)
}

/** Whether pages are shown in Chromium; otherwise a test stands for the page. */
export const hasPages = process.env['BERTH_DOUBLE_PAGES'] === 'chromium'

/** Whether pages never finish loading; a test says so. */
const neverLoads = process.env['BERTH_DOUBLE_LOADS'] === 'never'

type Open = Parameters<Electron.WebContents['setWindowOpenHandler']>[0]

/** Where a message of a page's comes from, unless from its main frame. */
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

/** A window's page. Without Chromium a test stands for it: what main sends is kept, what it posts the test says. */
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
  #zoom = 0

  constructor(id: number) {
    super()
    this.id = id
  }

  send(channel: string, ...args: unknown[]): void {
    // Electron clones what it sends, and throws for what cannot be cloned.
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

  /** Right after a crash it may begin no new process (electron/electron#48661); a test says how often. */
  reload(): void {
    if (this.crashed && this.lostReloads-- > 0) return
    void this.loadURL(this.url)
  }

  /** The page has been drawn for the first time. */
  ready(): void {
    this.emit('dom-ready', {})
    this.emit('did-finish-load', {})
  }

  /** The page's process ended, as it does in a crash. */
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

  /** A message of the page's, from its main frame unless `parent` says that it is in another. */
  post(channel: string, args: readonly unknown[], from: Origin = {}): void {
    const senderFrame = { url: from.url ?? this.url, parent: from.parent ?? null }
    ipcMain.emit(channel, { sender: this, senderFrame }, ...structuredClone(args))
  }

  /** Whether the shell lets an event of that name pass that it may prevent. */
  allows(name: string, details: object, ...more: unknown[]): boolean {
    let prevented = false
    const preventDefault = () => {
      prevented = true
    }
    this.emit(name, { ...details, preventDefault }, ...more)
    return !prevented
  }
}
