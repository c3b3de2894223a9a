/** The part of Electron's login item settings that Berth reads. */
export interface LoginItem {
  openAtLogin: boolean
  /** On Windows: false where the user disabled it in the Task Manager, which keeps the entry. */
  executableWillLaunchAtLogin: boolean
}

/** Whether the system really starts Berth at login. */
export function startsAtLogin(item: LoginItem, platform: NodeJS.Platform): boolean {
  return item.openAtLogin && (platform !== 'win32' || item.executableWillLaunchAtLogin)
}
