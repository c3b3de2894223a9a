import { writeFileSync } from 'node:fs'
import type * as Electron from 'electron'
import { needsReady } from './needs-ready.ts'
import { told } from './told.ts'

/** A message box on screen. */
interface Question {
  options: Electron.MessageBoxOptions
  answer(response: number): void
}

export const questions: Question[] = []

/** The file for the text of an error box, after which the process ends; set by tests. */
const boxFile = process.env['BERTH_DOUBLE_BOX']

/** dialog.ts, `checkAppInitialized`. */
const notYet = 'dialog module can only be used after app is ready'

/** Arguments with or without the parent window. */
type Given<Options> = [Options] | [object, Options]

export const dialog = {
  async showOpenDialog(...given: Given<Electron.OpenDialogOptions>) {
    needsReady(notYet)
    const options = given.at(-1) as Electron.OpenDialogOptions
    told.dialogs.push(options)
    return { canceled: told.chosenPaths.length === 0, filePaths: told.chosenPaths }
  },
  /** Stays on screen until the test answers. */
  showMessageBox(...given: Given<Electron.MessageBoxOptions>): Promise<Electron.MessageBoxReturnValue> {
    needsReady(notYet)
    const options = given.at(-1) as Electron.MessageBoxOptions
    return new Promise(resolve => {
      const question: Question = {
        options,
        answer(response) {
          questions.splice(questions.indexOf(question), 1)
          resolve({ response, checkboxChecked: false })
        },
      }
      questions.push(question)
      options.signal?.addEventListener('abort', () => question.answer(options.cancelId ?? 0))
    })
  },
  /** As on Linux, prints only to the terminal before Electron is ready. */
  showErrorBox(title: string, content: string): void {
    if (told.ready && boxFile !== undefined) writeFileSync(boxFile, `${title}\n${content}`)
    else process.stderr.write(`${title}: ${content}\n`)
  },
} satisfies {
  showOpenDialog: (...given: never) => ReturnType<Electron.Dialog['showOpenDialog']>
  showMessageBox: (...given: never) => ReturnType<Electron.Dialog['showMessageBox']>
  showErrorBox: Electron.Dialog['showErrorBox']
}

export const shell = {
  async openExternal(url) {
    told.opened.push(url)
  },
  async openPath(path) {
    told.opened.push(path)
    return ''
  },
  showItemInFolder(path) {
    told.opened.push(path)
  },
  beep() {},
} satisfies Pick<Electron.Shell, 'openExternal' | 'openPath' | 'showItemInFolder' | 'beep'>

export const clipboard = {
  async writeText(text) {
    told.copied = text
  },
  async readText() {
    return told.copied
  },
} satisfies Pick<Electron.Clipboard, 'writeText' | 'readText'>
