import { chosenFolder } from '#local/chosen/chosen-folder.ts'
import { chosenItem } from '#local/chosen/chosen-items.ts'
import type { FileDialogs } from '#ports/chosen-files.ts'

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
