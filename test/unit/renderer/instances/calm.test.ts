import { Terminal } from '@xterm/xterm'
import { expect, test } from 'vitest'
import { calmed } from '#renderer/screens/instances/terminal/screen.ts'

/** Modes that programs leave on when their connection breaks. */
const left = {
  'cursor keys': '\x1b[?1h',
  keypad: '\x1b=',
  'marked pastes': '\x1b[?2004h',
  'told focus': '\x1b[?1004h',
  insertion: '\x1b[4h',
  'an origin in a region': '\x1b[2;3r\x1b[?6h',
  'no wrapping': '\x1b[?7l',
  'wrapping backwards': '\x1b[?45h',
  'drawing held back': '\x1b[?2026h',
  'line feeds that return': '\x1b[20h',
  'the mouse': '\x1b[?1003h\x1b[?1006h',
  'line-drawing letters': '\x1b(0',
  'line-drawing letters, shifted in': '\x1b)0\x0e',
  'a title half told': '\x1b]0;half a tit',
  'a string half told': '\x1bPq#0;2',
  'a second screen': '\x1b[?1049h\x1b(0',
}

/** An emulator's state after this text, the reset, and the next shell's output. */
async function screenAfter(text: string) {
  const xterm = new Terminal({ allowProposedApi: true, cols: 20, rows: 8 })
  let title = ''
  xterm.onTitleChange(told => {
    title = told
  })
  const write = (bytes: string) => new Promise<void>(resolve => xterm.write(bytes, resolve))
  await write(text)
  await write(`${calmed(xterm.buffer.active.type === 'alternate')}\r\n`)
  // A line that wraps, one that overwrites itself, a bare line feed, and one line more than the screen has.
  await write(`\x1b[2J\x1b[Hlqk ${'x'.repeat(20)}\r\nabc\b\b\bd\nstep\x1b[8;1Hlast\r\nend`)
  const { active } = xterm.buffer
  const lines = Array.from({ length: active.length }, (_, at) => active.getLine(at)?.translateToString(true))
  const { modes } = xterm
  const seen = { kind: active.type, modes: { ...modes }, lineFeeds: xterm.options.convertEol, title, lines }
  xterm.dispose()
  return seen
}

test.each(Object.entries(left))('the next shell finds a terminal without %s', async (_, text) => {
  const fresh = await screenAfter('')
  const lines = ['xxxx', 'dbc', ' step', '', '', '', 'last', 'end']
  expect(fresh.lines.slice(-8)).toEqual(lines)
  expect(await screenAfter(text)).toEqual(fresh)
})
