import { app } from 'electron'
import { autoUpdater } from 'electron-updater'
import type { Log, Updater } from '#platform/platform.ts'

/** electron-updater, with automatic download and installation off. */
export function adaptUpdater(log: Pick<Log, 'line'>): Updater {
  // The getter creates the updater for this system.
  const updater = autoUpdater
  const say = (message?: unknown) => log.line(`update: ${String(message)}`)
  updater.logger = { info: say, warn: say, error: say }
  updater.autoDownload = false
  updater.autoInstallOnAppQuit = false
  updater.allowDowngrade = false
  updater.disableWebInstaller = true
  // The default id would identify this installation.
  updater.requestHeaders = { 'x-user-staging-id': '' }
  // The calls' rejections report errors; without a listener the event would be thrown.
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
      // On macOS Electron's own updater ends Berth; elsewhere the installer must not start before Berth's end.
      if (process.platform === 'darwin') return updater.quitAndInstall()
      app.once('quit', () => updater.quitAndInstall(false, true))
      app.quit()
    },
  }
}
