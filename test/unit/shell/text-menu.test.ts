import { expect, test } from 'vitest'
import { textMenu } from '#shell/text-menu.ts'

const editFlags = { canCut: true, canCopy: true, canPaste: true, canSelectAll: true }
const roles = (clicked: Parameters<typeof textMenu>[0]) =>
  textMenu(clicked).flatMap(({ role, enabled }) => (role ? [enabled ? role : `no ${role}`] : []))

test('a text that can be edited is cut, copied, pasted and selected', () => {
  const clicked = {
    isEditable: true,
    selectionText: '',
    editFlags: { ...editFlags, canCut: false, canCopy: false },
  }
  expect(roles(clicked)).toEqual(['no cut', 'no copy', 'paste', 'selectAll'])
})

test('selected text can be copied, and without a selection there is no menu', () => {
  expect(roles({ isEditable: false, selectionText: 'a word', editFlags })).toEqual(['copy'])
  expect(textMenu({ isEditable: false, selectionText: ' ', editFlags })).toEqual([])
})
