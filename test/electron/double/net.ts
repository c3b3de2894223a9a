import { EventEmitter } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type * as Electron from 'electron'
import { app } from './app.ts'
import { told } from './told.ts'
import { windowList } from './window-list.ts'

/** A request of Electron's `net`, made by Node, for loopback only. */
class ClientRequest extends EventEmitter {
  readonly #options: Electron.ClientRequestConstructorOptions & { path?: string }
  readonly #headers: Record<string, string> = {}
  #sent: ReturnType<typeof request> | undefined

  constructor(options: Electron.ClientRequestConstructorOptions & { path?: string }) {
    super()
    this.#options = options
    for (const [name, value] of Object.entries(options.headers ?? {})) this.setHeader(name, String(value))
  }

  setHeader(name: string, value: string): void {
    this.#headers[name] = value
  }

  abort(): void {
    this.#sent?.destroy()
    this.emit('abort')
  }

  end(): void {
    const { protocol, hostname, port, path, method = 'GET' } = this.#options
    if (protocol !== 'http:') throw new Error('the double has no certificates')
    const options = { hostname, port, path, method, headers: this.#headers }
    this.#sent = request(options, (answer: IncomingMessage) => {
      const { statusCode = 0, headers } = answer
      if (statusCode >= 300 && statusCode < 400) {
        this.emit('redirect', statusCode, method, String(headers.location), headers)
        return
      }
      this.emit('response', answer)
    })
    this.#sent.on('error', error => this.emit('error', error))
    this.#sent.end()
  }
}

export const net = {
  isOnline: () => true,
  request: (options: Electron.ClientRequestConstructorOptions) => new ClientRequest(options),
} satisfies Pick<Electron.Net, 'isOnline'> & { request: (options: never) => object }

/**
 * Electron's own updater, used only on macOS. electron_api_auto_updater.cc, `AutoUpdater::QuitAndInstall`: closes all
 * windows and waits. Then Squirrel.Mac's installer ends the app by `terminate:`, which is a quit
 * (electron_application.mm).
 */
class AutoUpdater extends EventEmitter implements Pick<Electron.AutoUpdater, 'quitAndInstall'> {
  quitAndInstall(): void {
    this.emit('before-quit-for-update')
    if (windowList.isEmpty()) this.#relaunch()
    else {
      windowList.onAllClosed.push(() => this.#relaunch())
      windowList.closeAll()
    }
  }

  #relaunch(): void {
    told.updateInstalls = true
    app.quit()
  }
}

export const autoUpdater = new AutoUpdater()
