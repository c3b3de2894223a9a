import { homedir } from 'node:os'
import { app } from 'electron'
import { linuxAutostart, startsAtLogin } from '#platform/autostart.ts'
import type { Autostart } from '#platform/platform.ts'

/** Starts Berth at login: by a file on Linux, by the system's login items elsewhere. */
export async function systemAutostart(): Promise<Autostart> {
  const { env } = process
  const own = app.isPackaged ? [] : [app.getAppPath()]
  if (process.platform === 'linux') {
    // An AppImage runs from a temporary folder, so the entry starts the image, whose name changes with each update.
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
      // Windows tells entries apart by their arguments, so the other one must be removed.
      app.setLoginItemSettings({ openAtLogin: false, args: started(how !== 'tray') })
      app.setLoginItemSettings({ openAtLogin: how !== 'no', args: started(how === 'tray') })
    },
  }
}

/** Whether Berth starts without its window. macOS passes no arguments to programs that it starts at login. */
export function startsHidden(flag: boolean, startAtLogin: 'no' | 'window' | 'tray'): boolean {
  if (flag) return true
  return (
    process.platform === 'darwin' && startAtLogin === 'tray' && app.getLoginItemSettings().wasOpenedAtLogin
  )
}
