import { homedir } from 'node:os'
import { app } from 'electron'
import { linuxAutostart } from '../../local/autostart/linux-autostart.ts'
import { startsAtLogin } from '../../local/autostart/login-items.ts'
import type { Autostart } from '../../ports/autostart.ts'

/** What starts Berth when the user logs in: a file on Linux, the system's own list elsewhere. */
export async function systemAutostart(): Promise<Autostart> {
  const { env } = process
  const own = app.isPackaged ? [] : [app.getAppPath()]
  if (process.platform === 'linux') {
    // An AppImage runs from a folder that goes with it: what starts it again is the image, whose name changes when it
    // is updated.
    const autostart = linuxAutostart({
      env,
      home: homedir(),
      command: [env['APPIMAGE'] || process.execPath, ...own],
    })
    await autostart.renew().catch(() => undefined)
    return autostart
  }
  const started = (hidden: boolean) => [...own, ...(hidden ? ['--hidden'] : [])]
  return {
    isOn: async () =>
      [false, true].some(hidden =>
        startsAtLogin(app.getLoginItemSettings({ args: started(hidden) }), process.platform),
      ),
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
