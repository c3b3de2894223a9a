import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Call } from '#cli/call.ts'
import { writer } from '#cli/logs.ts'

test('output becomes one object per line, however it arrives, and none is lost', () => {
  const piece = fc.stringMatching(/^[ab\r\n]{0,6}$/)
  fc.assert(
    fc.property(fc.array(piece), pieces => {
      let out = ''
      const write = (text: string) => {
        out += text
      }
      const output = writer({ json: true, write } as Call)
      for (const text of pieces) output.write(text)
      output.end()
      const lines = out.split('\n').slice(0, -1)
      const texts = lines.map(line => (JSON.parse(line) as { output: string }).output)
      expect(texts.join('')).toBe(pieces.join(''))
      expect(texts.map(text => text.replace(/\n$/, ''))).toEqual(
        pieces
          .join('')
          .replace(/\n$/, '')
          .split('\n')
          .slice(pieces.join('') === '' ? 1 : 0),
      )
    }),
  )
})
