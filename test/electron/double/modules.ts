import { EventEmitter } from 'node:events'
import type * as Electron from 'electron'
import { needsReady } from './needs-ready.ts'
import { told } from './told.ts'

export const ipcMain = Object.assign(new EventEmitter(), {
  handle(): never {
    throw new Error('Berth has one channel, and it is not called with handle')
  },
})

/**
 * power-monitor.ts: on Linux a shutdown is delayed, and reported, only while something listens for it. The very first
 * listener is missed, because it is counted before it is added.
 */
class PowerMonitor
  extends EventEmitter
  implements Pick<Electron.PowerMonitor, 'isOnBatteryPower' | 'getSystemIdleTime'>
{
  #holdsShutdownUp = false

  constructor() {
    super()
    this.once('newListener', () => {
      this.#holdsShutdownUp = this.listenerCount('shutdown') > 0
      this.on('newListener', event => {
        if (event === 'shutdown') this.#holdsShutdownUp = true
      })
      this.on('removeListener', event => {
        if (event === 'shutdown') this.#holdsShutdownUp = this.listenerCount('shutdown') > 0
      })
    })
  }

  /**
   * power_observer_linux.cc, `OnPrepareForShutdown`: gives whether the system waits for this process to end, which
   * needs a listener that prevents the default.
   */
  systemShutsDown(): boolean {
    let prevented = false
    const event = {
      preventDefault: () => {
        prevented = true
      },
    }
    if (this.#holdsShutdownUp) this.emit('shutdown', event)
    return prevented
  }

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
    // electron_api_global_shortcut.cc, `GlobalShortcut::Register`.
    needsReady('globalShortcut cannot be used before the app is ready')
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
