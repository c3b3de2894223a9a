import { app } from 'electron'
import { autoUpdater } from 'electron-updater'
import type { Log } from '../../ports/log.ts'
import type { Updater } from '../../ports/updater.ts'

/** electron-updater, which fetches and installs nothing by itself. */
export function adaptUpdater(log: Pick<Log, 'line'>): Updater {
  // The one for this system is made when it is first named.
  const updater = autoUpdater
  const say = (message?: unknown) => log.line(`update: ${String(message)}`)
  updater.logger = { info: say, warn: say, error: say }
  updater.autoDownload = false
  updater.autoInstallOnAppQuit = false
  updater.allowDowngrade = false
  updater.disableWebInstaller = true
  // It would tell one installation from another.
  updater.requestHeaders = { 'x-user-staging-id': '' }
  // What goes wrong is told by the calls' own rejections; unheard, the event would be thrown.
  updater.on('error', () => undefined)
  return {
    async check() {
      const found = await updater.checkForUpdates()
      return found?.isUpdateAvailable ? found.updateInfo.version : undefined
    },
    async fetch(onPercent) {
      const listen = ({ percent }: { percent: number }) => onPercent(percent)
      updater.on('download-progress', listen)
      try {
        await updater.downloadUpdate()
      } finally {
        updater.off('download-progress', listen)
      }
    },
    install() {
      // Where Electron's own updater is in it, that ends Berth; elsewhere the installer must not start before its end.
      if (process.platform === 'darwin') return updater.quitAndInstall()
      app.once('quit', () => updater.quitAndInstall(false, true))
      app.quit()
    },
  }
}
