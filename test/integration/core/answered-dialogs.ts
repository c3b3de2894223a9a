import { chosenFolder } from '../../../electron/local/chosen/chosen-folder.ts'
import { chosenItem } from '../../../electron/local/chosen/chosen-items.ts'
import type { FileDialogs } from '../../../electron/ports/chosen-files.ts'

/** File dialogs in which the user chooses nothing but what is given. */
export function answeredDialogs(answers: Partial<FileDialogs>): FileDialogs {
  return {
    chooseFiles: async () => [],
    chooseFolders: async () => [],
    chooseTarget: async () => undefined,
    itemAt: chosenItem,
    folderAt: chosenFolder,
    ...answers,
  }
}
