import { EventEmitter } from 'node:events'
import type * as Electron from 'electron'

/** What the shell told Electron's modules, for a test to look at. */
export const told = {
  paths: new Map<string, string>(),
  switches: [] as string[],
  schemes: [] as Electron.CustomScheme[],
  handlers: new Map<string, (request: Request) => Response | Promise<Response>>(),
  permissionRequest: null as Parameters<Electron.Session['setPermissionRequestHandler']>[0],
  permissionCheck: null as Parameters<Electron.Session['setPermissionCheckHandler']>[0],
  devicePermission: null as Parameters<Electron.Session['setDevicePermissionHandler']>[0],
  spellChecker: true,
  readyWasAwaited: false,
  /** What was copied last. */
  copied: '',
  /** What the user chooses in the next dialogs for files, and what those looked like. */
  chosenPaths: [] as string[],
  dialogs: [] as Electron.OpenDialogOptions[],
}

/** Events are Node's own: their names are checked where the shell listens, against the real declarations. */
class App
  extends EventEmitter
  implements
    Pick<
      Electron.App,
      'whenReady' | 'quit' | 'exit' | 'setPath' | 'getPath' | 'requestSingleInstanceLock' | 'commandLine'
    >
{
  readonly commandLine = {
    appendSwitch: (name: string) => {
      if (told.readyWasAwaited) throw new Error('switches are read before Electron is ready')
      told.switches.push(name)
    },
  } as unknown as Electron.CommandLine

  whenReady(): Promise<void> {
    told.readyWasAwaited = true
    return new Promise(resolve => setImmediate(resolve))
  }

  /** As Electron does: everyone may still prevent it. */
  quit(): void {
    let prevented = false
    this.emit('before-quit', {
      preventDefault: () => {
        prevented = true
      },
    })
    if (!prevented) this.exit(0)
  }

  exit(code = 0): void {
    process.exit(code)
  }

  setPath(name: string, path: string): void {
    told.paths.set(name, path)
  }

  getPath(name: string): string {
    return told.paths.get(name) ?? ''
  }

  requestSingleInstanceLock(): boolean {
    return true
  }
}

export const app = new App()

export const ipcMain = new EventEmitter()

export const powerMonitor = new EventEmitter()

export const nativeTheme = { shouldUseDarkColors: false } satisfies Pick<
  Electron.NativeTheme,
  'shouldUseDarkColors'
>

export const protocol = {
  registerSchemesAsPrivileged(schemes) {
    if (told.readyWasAwaited) throw new Error('schemes are declared before Electron is ready')
    told.schemes.push(...schemes)
  },
  handle(scheme, handler) {
    if (!told.readyWasAwaited) throw new Error('schemes are served once Electron is ready')
    told.handlers.set(scheme, handler as (request: Request) => Response | Promise<Response>)
  },
} satisfies Pick<Electron.Protocol, 'registerSchemesAsPrivileged' | 'handle'>

export const session = {
  defaultSession: {
    setPermissionRequestHandler: handler => {
      told.permissionRequest = handler
    },
    setPermissionCheckHandler: handler => {
      told.permissionCheck = handler
    },
    setDevicePermissionHandler: handler => {
      told.devicePermission = handler
    },
    setSpellCheckerEnabled: enable => {
      told.spellChecker = enable
    },
  } satisfies Pick<
    Electron.Session,
    | 'setPermissionRequestHandler'
    | 'setPermissionCheckHandler'
    | 'setDevicePermissionHandler'
    | 'setSpellCheckerEnabled'
  >,
}

export const clipboard = {
  writeText: async text => {
    told.copied = text
  },
} satisfies Pick<Electron.Clipboard, 'writeText'>

export const dialog = {
  showOpenDialog: async (...given: [Electron.OpenDialogOptions] | [object, Electron.OpenDialogOptions]) => {
    const options = given.at(-1) as Electron.OpenDialogOptions
    told.dialogs.push(options)
    return { canceled: told.chosenPaths.length === 0, filePaths: told.chosenPaths }
  },
} satisfies { showOpenDialog: (...given: never) => ReturnType<Electron.Dialog['showOpenDialog']> }

type Image = Pick<Electron.NativeImage, 'addRepresentation' | 'setTemplateImage'>

export const nativeImage = {
  createFromDataURL(url: string): Image {
    if (!url.startsWith('data:image/png;base64,')) throw new Error('not a picture')
    return { addRepresentation: () => undefined, setTemplateImage: () => undefined }
  },
} satisfies { createFromDataURL: (url: string) => Image }
