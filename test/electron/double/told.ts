import type * as Electron from 'electron'

/** What the shell told Electron, for a test to look at. */
export const told = {
  paths: new Map<string, string>(),
  switches: [] as string[],
  schemes: [] as Electron.CustomScheme[],
  handlers: new Map<string, (request: Request) => Response | Promise<Response>>(),
  permissionRequest: null as Parameters<Electron.Session['setPermissionRequestHandler']>[0],
  permissionCheck: null as Parameters<Electron.Session['setPermissionCheckHandler']>[0],
  devicePermission: null as Parameters<Electron.Session['setDevicePermissionHandler']>[0],
  spellChecker: true,
  /** By the session's partition. */
  proxies: {} as Record<string, Electron.ProxyConfig>,
  ready: false,
  /** What was copied last. */
  copied: '',
  /** Addresses that were handed to the desktop. */
  opened: [] as string[],
  /** What the user chooses in the next dialogs for files, and what those looked like. */
  chosenPaths: [] as string[],
  dialogs: [] as Electron.OpenDialogOptions[],
  login: { openAtLogin: false } as Electron.Settings,
  /** Schemes whose links the desktop brings here. */
  protocols: new Set<string>(),
  /** Whether the desktop refuses to show notifications. */
  notificationsFail: false,
  /** Whether Electron's own updater began to put an update in place. */
  updateInstalls: false,
  shortcuts: new Map<string, () => void>(),
}
