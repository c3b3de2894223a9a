/** The part of Electron's answer about a start at login that counts. */
export interface LoginItem {
  openAtLogin: boolean
  /** On Windows: whether the user has not switched it off in the Task Manager, where its entry stays. */
  executableWillLaunchAtLogin: boolean
}

/** Whether the system starts Berth at login, as it will really do. */
export function startsAtLogin(item: LoginItem, platform: NodeJS.Platform): boolean {
  return item.openAtLogin && (platform !== 'win32' || item.executableWillLaunchAtLogin)
}
