import { chosenFolder, chosenItem } from '#machine/chosen-files.ts'
import type { FileDialogs } from '#machine/folders.ts'

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
