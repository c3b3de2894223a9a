import { type BrowserWindow, dialog } from 'electron'

/**
 * Asks before a window closes whose page would lose something: of itself Electron asks nobody, and the window just stays.
 * `closes`: whether it must close, since the cause of Berth's end waits for it.
 */
export function askToLeave(window: BrowserWindow, closes: () => boolean): void {
  let asking = false
  window.webContents.on('will-prevent-unload', event => {
    if (closes()) event.preventDefault()
    else if (!asking) void ask()
  })

  async function ask(): Promise<void> {
    asking = true
    const { response } = await dialog.showMessageBox(window, {
      type: 'question',
      title: 'Berth',
      message: 'Close this window?',
      detail: 'Something in it has not been saved, or an upload from it is under way.',
      buttons: ['Close', 'Cancel'],
      defaultId: 1,
      cancelId: 1,
      noLink: true,
    })
    asking = false
    if (response === 0 && !window.isDestroyed()) window.destroy()
  }
}
