import { BrowserWindow, Menu, type WebContents } from 'electron'
import { textMenu } from './text-menu.ts'

/** Opens a context menu for text, which Electron lacks. */
export function offerContextMenu(contents: WebContents): void {
  contents.on('context-menu', (_event, clicked) => {
    const items = textMenu(clicked)
    const window = BrowserWindow.fromWebContents(contents)
    if (items.length > 0 && window) Menu.buildFromTemplate(items).popup({ window })
  })
}
