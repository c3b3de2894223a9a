import { BrowserWindow, dialog, type MessageBoxOptions } from 'electron'
import { quitQuestion } from '#shared/quit-question.ts'
import type { State } from '#shared/state.ts'

export interface QuitContext {
  state: () => State
  /** Whether Berth can continue without its window. */
  tray: boolean
  /** Leaves Berth in the tray. */
  hideWindow: () => void
}

/** Asks before quitting while something runs, costs or is not saved; `true` lets Berth end. */
export async function askToQuit({ state, tray, hideWindow }: QuitContext): Promise<boolean> {
  const question = quitQuestion(state())
  if (question === undefined) return true
  const answers = tray ? (['quit', 'tray', 'cancel'] as const) : (['quit', 'cancel'] as const)
  const options: MessageBoxOptions = {
    type: 'question',
    title: 'Quit Berth',
    ...question,
    buttons: answers.map(answer => labels[answer]),
    defaultId: 1,
    cancelId: answers.length - 1,
    noLink: true,
  }
  const window = BrowserWindow.getAllWindows().find(one => one.isVisible())
  const { response } = await (window
    ? dialog.showMessageBox(window, options)
    : dialog.showMessageBox(options))
  if (answers[response] === 'tray') hideWindow()
  return answers[response] === 'quit'
}

const labels = { quit: 'Quit', tray: 'Keep in tray', cancel: 'Cancel' }
