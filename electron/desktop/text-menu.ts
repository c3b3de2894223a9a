import type { MenuItemConstructorOptions } from 'electron'

/** The parts of a click that decide the menu. */
export interface ClickedText {
  isEditable: boolean
  selectionText: string
  editFlags: { canCut: boolean; canCopy: boolean; canPaste: boolean; canSelectAll: boolean }
}

/** The context menu of a text; empty where there is nothing to edit or copy. */
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
