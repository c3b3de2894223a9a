import { EventEmitter } from 'node:events'
import type * as Electron from 'electron'
import { told } from './told.ts'

export const ipcMain = Object.assign(new EventEmitter(), {
  handle(): never {
    throw new Error('Berth has one channel, and it is not called with handle')
  },
})

class PowerMonitor
  extends EventEmitter
  implements Pick<Electron.PowerMonitor, 'isOnBatteryPower' | 'getSystemIdleTime'>
{
  isOnBatteryPower(): boolean {
    return false
  }

  getSystemIdleTime(): number {
    return 0
  }
}

export const powerMonitor = new PowerMonitor()

export const globalShortcut = {
  register(accelerator, callback) {
    told.shortcuts.set(accelerator, callback)
    return true
  },
  isRegistered: accelerator => told.shortcuts.has(accelerator),
  unregister: accelerator => void told.shortcuts.delete(accelerator),
  unregisterAll: () => told.shortcuts.clear(),
} satisfies Pick<Electron.GlobalShortcut, 'register' | 'isRegistered' | 'unregister' | 'unregisterAll'>

export const protocol = {
  registerSchemesAsPrivileged(schemes) {
    if (told.ready) throw new Error('schemes are declared before Electron is ready')
    told.schemes.push(...schemes)
  },
  handle(scheme, handler) {
    if (!told.ready) throw new Error('schemes are served once Electron is ready')
    told.handlers.set(scheme, handler as (request: Request) => Response | Promise<Response>)
  },
} satisfies Pick<Electron.Protocol, 'registerSchemesAsPrivileged' | 'handle'>
