import type { MenuItemConstructorOptions } from 'electron'

/** What of a click in the page decides on its menu. */
export interface ClickedText {
  isEditable: boolean
  selectionText: string
  editFlags: { canCut: boolean; canCopy: boolean; canPaste: boolean; canSelectAll: boolean }
}

/** The menu of a text: what can be done with it, and nothing where there is none. */
export function textMenu({
  isEditable,
  selectionText,
  editFlags,
}: ClickedText): MenuItemConstructorOptions[] {
  const copy: MenuItemConstructorOptions = { role: 'copy', enabled: editFlags.canCopy }
  if (!isEditable) return selectionText.trim() === '' ? [] : [copy]
  return [
    { role: 'cut', enabled: editFlags.canCut },
    copy,
    { role: 'paste', enabled: editFlags.canPaste },
    { type: 'separator' },
    { role: 'selectAll', enabled: editFlags.canSelectAll },
  ]
}
