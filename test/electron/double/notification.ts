import { EventEmitter } from 'node:events'
import type * as Electron from 'electron'
import { needsReady } from './needs-ready.ts'
import { told } from './told.ts'

export const notifications: Notification[] = []

type Doubled = 'show' | 'close' | 'title' | 'body' | 'actions'

export class Notification extends EventEmitter implements Pick<Electron.Notification, Doubled> {
  readonly options: Electron.NotificationConstructorOptions
  open = false
  title: string
  body: string
  actions: Electron.NotificationAction[]

  constructor(options: Electron.NotificationConstructorOptions = {}) {
    super()
    // The messages of electron_api_notification.cc, `Notification::New`.
    needsReady('Cannot create Notification before app is ready')
    for (const name of ['id', 'groupId'] as const)
      if (process.platform === 'win32' && (options[name] ?? '').length > 64)
        throw new Error(`Notification ${name} exceeds Windows limit of 64 UTF-16 characters`)
    this.options = options
    this.title = options.title ?? ''
    this.body = options.body ?? ''
    this.actions = options.actions ?? []
  }

  static isSupported(): boolean {
    return true
  }

  /** libnotify_notification.cc, `LibnotifyNotification::Show`: shown or failed once the desktop answers. */
  show(): void {
    setImmediate(() => {
      if (told.notificationsFail) {
        this.emit('failed', {}, '')
        return
      }
      this.open = true
      notifications.push(this)
      this.emit('show', {})
    })
  }

  close(): void {
    if (!this.open) return
    this.open = false
    this.emit('close', {})
  }
}
