import { EventEmitter } from 'node:events'
import type * as Electron from 'electron'

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
    this.options = options
    this.title = options.title ?? ''
    this.body = options.body ?? ''
    this.actions = options.actions ?? []
  }

  static isSupported(): boolean {
    return true
  }

  show(): void {
    this.open = true
    notifications.push(this)
    this.emit('show')
  }

  close(): void {
    this.open = false
    this.emit('close')
  }
}
