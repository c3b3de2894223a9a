import type * as Electron from 'electron'

/** The calls of the shell to Electron, for tests. */
export const told = {
  paths: new Map<string, string>(),
  switches: [] as string[],
  schemes: [] as Electron.CustomScheme[],
  handlers: new Map<string, (request: Request) => Response | Promise<Response>>(),
  permissionRequest: null as Parameters<Electron.Session['setPermissionRequestHandler']>[0],
  permissionCheck: null as Parameters<Electron.Session['setPermissionCheckHandler']>[0],
  devicePermission: null as Parameters<Electron.Session['setDevicePermissionHandler']>[0],
  spellChecker: true,
  /** By partition of the session. */
  proxies: {} as Record<string, Electron.ProxyConfig>,
  ready: false,
  /** The text copied last. */
  copied: '',
  /** The URLs and paths opened through the desktop. */
  opened: [] as string[],
  /** The paths chosen in file dialogs; `dialogs` has the options of those. */
  chosenPaths: [] as string[],
  dialogs: [] as Electron.OpenDialogOptions[],
  login: { openAtLogin: false } as Electron.Settings,
  /** Schemes for which the app is the default. */
  protocols: new Set<string>(),
  /** Whether the desktop refuses to show notifications. */
  notificationsFail: false,
  /** Whether Electron's own updater has started to install an update. */
  updateInstalls: false,
  shortcuts: new Map<string, () => void>(),
}
