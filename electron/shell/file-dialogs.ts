import { BrowserWindow, dialog } from 'electron'
import { chosenFolder } from '../local/chosen/chosen-folder.ts'
import { chosenItem } from '../local/chosen/chosen-items.ts'
import type { FileDialogs } from '../ports/chosen-files.ts'

type Properties = NonNullable<Electron.OpenDialogOptions['properties']>

/** The system's file dialogs, over Berth's window. The chosen paths stay in the main process. */
export const systemFileDialogs: FileDialogs = {
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

async function choose(title: string, buttonLabel: string, properties: Properties): Promise<string[]> {
  const options = { title, buttonLabel, properties }
  const window = BrowserWindow.getFocusedWindow() ?? BrowserWindow.getAllWindows()[0]
  const { canceled, filePaths } = await (window
    ? dialog.showOpenDialog(window, options)
    : dialog.showOpenDialog(options))
  return canceled ? [] : filePaths
}
