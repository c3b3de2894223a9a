import { BrowserWindow, dialog, type MessageBoxOptions } from 'electron'
import type { Question } from '#shared/danger.ts'

/** Asks in a dialog of the desktop; true where it is confirmed. The button in front does nothing. */
export async function askFirst({ title, verb, lines, grave }: Question): Promise<boolean> {
  const options: MessageBoxOptions = {
    type: grave ? 'warning' : 'question',
    title: 'Berth',
    message: title,
    detail: lines.join('\n\n'),
    // A single ampersand would mark the next letter as a shortcut.
    buttons: [verb.replaceAll('&', '&&'), 'Cancel'],
    defaultId: 1,
    cancelId: 1,
    noLink: true,
  }
  const window = BrowserWindow.getFocusedWindow()
  const { response } = await (window
    ? dialog.showMessageBox(window, options)
    : dialog.showMessageBox(options))
  return response === 0
}
