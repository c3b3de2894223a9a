import { EventEmitter } from 'node:events'
import type * as Electron from 'electron'

export const notifications: Notification[] = []

export class Notification extends EventEmitter implements Pick<Electron.Notification, 'show' | 'close'> {
  readonly options: Electron.NotificationConstructorOptions
  open = false

  constructor(options: Electron.NotificationConstructorOptions = {}) {
    super()
    this.options = options
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
