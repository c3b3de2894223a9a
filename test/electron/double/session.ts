import { EventEmitter } from 'node:events'
import type * as Electron from 'electron'
import { told } from './told.ts'

type Doubled =
  | 'setPermissionRequestHandler'
  | 'setPermissionCheckHandler'
  | 'setDevicePermissionHandler'
  | 'setSpellCheckerEnabled'
  | 'setDisplayMediaRequestHandler'
  | 'setCertificateVerifyProc'
  | 'setUserAgent'

class Session extends EventEmitter implements Pick<Electron.Session, Doubled> {
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
}

export const session = {
  defaultSession: new Session(),
  fromPartition: () => new Session(),
} satisfies { defaultSession: object; fromPartition: () => object }
