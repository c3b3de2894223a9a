import { dirname } from 'node:path'
import { BrowserWindow, dialog } from 'electron'
import { chosenFolder, chosenItem } from '../platform/chosen-files.ts'
import type { FileDialogs } from '../platform/folders.ts'

type Properties = NonNullable<Electron.OpenDialogOptions['properties']>

/** The system's file dialogs, over Berth's window. The chosen paths stay in the main process. */
export function systemFileDialogs(): FileDialogs {
  // Since 43 Electron begins each dialog in Downloads, where the system itself began where the last one ended.
  let last: { defaultPath?: string } = {}

  async function choose(title: string, buttonLabel: string, properties: Properties): Promise<string[]> {
    const chosen = await open({ title, buttonLabel, properties, ...last })
    const [path] = chosen
    if (path !== undefined) last = { defaultPath: dirname(path) }
    return chosen
  }

  return {
    chooseFiles: async () =>
      (await choose('Upload files', 'Upload', ['openFile', 'multiSelections'])).map(chosenItem),
    chooseFolders: async () =>
      (await choose('Upload a folder', 'Upload', ['openDirectory', 'multiSelections'])).map(chosenItem),
    async chooseTarget() {
      const [path] = await choose('Download into', 'Download here', ['openDirectory', 'createDirectory'])
      return path === undefined ? undefined : chosenFolder(path)
    },
    itemAt: chosenItem,
    folderAt: chosenFolder,
  }
}

async function open(options: Electron.OpenDialogOptions): Promise<string[]> {
  const window = BrowserWindow.getFocusedWindow() ?? BrowserWindow.getAllWindows()[0]
  const { canceled, filePaths } = await (window
    ? dialog.showOpenDialog(window, options)
    : dialog.showOpenDialog(options))
  return canceled ? [] : filePaths
}
