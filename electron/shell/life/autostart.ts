import { homedir } from 'node:os'
import { app } from 'electron'
import { linuxAutostart } from '../../local/autostart/linux-autostart.ts'
import type { Autostart } from '../../ports/autostart.ts'

/** What starts Berth when the user logs in: a file on Linux, the system's own list elsewhere. */
export function systemAutostart(): Autostart {
  const { env } = process
  const own = app.isPackaged ? [] : [app.getAppPath()]
  // An AppImage runs from a folder that goes with it: what starts it again is the image.
  if (process.platform === 'linux')
    return linuxAutostart({ env, home: homedir(), command: [env['APPIMAGE'] || process.execPath, ...own] })
  const started = (hidden: boolean) => [...own, ...(hidden ? ['--hidden'] : [])]
  return {
    isOn: async () =>
      [false, true].some(hidden => app.getLoginItemSettings({ args: started(hidden) }).openAtLogin),
    async choose(how) {
      // Windows knows an entry by its arguments: the other one would stay.
      app.setLoginItemSettings({ openAtLogin: false, args: started(how !== 'tray') })
      app.setLoginItemSettings({ openAtLogin: how !== 'no', args: started(how === 'tray') })
    },
  }
}

/** Whether Berth starts without its window. macOS passes no arguments on to what it starts at login. */
export function startsHidden(flag: boolean, startAtLogin: 'no' | 'window' | 'tray'): boolean {
  if (flag) return true
  return (
    process.platform === 'darwin' && startAtLogin === 'tray' && app.getLoginItemSettings().wasOpenedAtLogin
  )
}
