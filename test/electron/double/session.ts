import { EventEmitter } from 'node:events'
import type * as Electron from 'electron'
import { needsReady } from './needs-ready.ts'
import { told } from './told.ts'

type Doubled =
  | 'setPermissionRequestHandler'
  | 'setPermissionCheckHandler'
  | 'setDevicePermissionHandler'
  | 'setSpellCheckerEnabled'
  | 'setDisplayMediaRequestHandler'
  | 'setCertificateVerifyProc'
  | 'setUserAgent'
  | 'setProxy'

/** `partition` is empty for the default session, which pages use. */
class Session extends EventEmitter implements Pick<Electron.Session, Doubled> {
  readonly #partition: string

  constructor(partition: string) {
    super()
    this.#partition = partition
  }

  setPermissionRequestHandler(handler: typeof told.permissionRequest): void {
    told.permissionRequest = handler
  }

  setPermissionCheckHandler(handler: typeof told.permissionCheck): void {
    told.permissionCheck = handler
  }

  setDevicePermissionHandler(handler: typeof told.devicePermission): void {
    told.devicePermission = handler
  }

  setSpellCheckerEnabled(enable: boolean): void {
    told.spellChecker = enable
  }

  setDisplayMediaRequestHandler(): void {}
  setCertificateVerifyProc(): void {}
  setUserAgent(): void {}

  async setProxy(config: Electron.ProxyConfig): Promise<void> {
    told.proxies[this.#partition] = config
  }
}

const defaultSession = new Session('')

/** electron_api_session.cc, `FromPartition`: throws before Electron is ready. */
export const session = {
  get defaultSession() {
    needsReady('Session can only be received when app is ready')
    return defaultSession
  },
  fromPartition(partition: string) {
    needsReady('Session can only be received when app is ready')
    return new Session(partition)
  },
} satisfies { defaultSession: object; fromPartition: (partition: string) => object }
