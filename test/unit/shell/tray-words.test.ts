import { expect, test } from 'vitest'
import { cleanLine } from '#core/instances/instance-view.ts'
import { word } from '#shell/tray/tray-words.ts'

const family = '👩‍👩‍👧‍👦'

test.each([
  [family, family],
  ['می‌خواهم', 'می‌خواهم'],
  ['flag 🏴󠁧󠁢󠁥󠁮󠁧󠁿 e\u0301', 'flag 🏴󠁧󠁢󠁥󠁮󠁧󠁿 e\u0301'],
  ['half \ud83d of one', 'half \ufffd of one'],
  ['un\u200bseen\u00ad and \u202eturned\u2066', 'unseen and turned'],
  ['two\n lines\u2028', 'two  lines'],
  ['\u200d \u200c', ''],
])('a label %j is shown as %j, in the tray as in the window', (label, shown) => {
  expect(word(label)).toBe(shown)
  expect(cleanLine(label) ?? '').toBe(shown)
})

test('a long label is cut between letters as readers see them', () => {
  expect(word(family.repeat(40))).toBe(`${family.repeat(31)}…`)
  expect(word(`${'x'.repeat(31)}e\u0301`)).toBe(`${'x'.repeat(31)}e\u0301`)
  expect(word(`${'x'.repeat(31)}e\u0301y`)).toBe(`${'x'.repeat(31)}…`)
  expect(cleanLine(`${'x'.repeat(498)}🤖🤖🤖`)).toBe(`${'x'.repeat(498)}🤖…`)
  const marked = word(`a${'\u0301'.repeat(5000)}`)
  expect(marked.length).toBeLessThan(700)
})
