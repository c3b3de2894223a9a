import { expect, test } from 'vitest'
import { outputRows, rowsOfPage } from '#shared/automation/output-rows.ts'
import { plainLastLine, plainOutput } from '#ssh/monitor/plain-output.ts'

test('progress bars, also nested ones, show their last state above later output', () => {
  const bar = (name: string, at: number) => `\r${name}: ${at}%|\u001b[34m#####\u001b[0m`
  const draw = outputRows()
  let rows = draw(plainOutput('begin\n'))
  for (let epoch = 1; epoch <= 3; epoch += 1) {
    draw(plainOutput(bar('epochs', epoch * 30)))
    // As tqdm draws an inner bar: a line down, and up again.
    for (let step = 1; step <= 100; step += 1) rows = draw(plainOutput(`\n${bar('steps', step)}\u001b[A`))
  }
  expect(rows).toEqual(['begin', 'epochs: 90%|#####', 'steps: 100%|#####'])
  expect(draw(plainOutput('\n\ndone\r\n'))).toEqual([
    'begin',
    'epochs: 90%|#####',
    'steps: 100%|#####',
    'done',
    '',
  ])
})

test('line pieces are joined, long lines are cut, and only the last rows stay', () => {
  const draw = outputRows({ rows: 3, characters: 8 })
  draw('on')
  draw('e\ntwo')
  expect(draw('\nthree is long')).toEqual(['one', 'two', 'three is …'])
  expect(draw('er\nfour\nfive\n')).toEqual(['four', 'five', ''])
  expect(rowsOfPage('a\nb\n')).toEqual(['a', 'b'])
})

test.each<[string, string, string[]]>([
  ['backspaces', '10%\b\b\b20%\b\b\b30%', ['30%']],
  ['some of a row', 'step 10%\b\b\b20%', ['step 20%']],
  ['a spinner', 'wait |\b/\b-\b done', ['wait  done']],
  ['column one', 'a 10%\u001b[1Ga 20%\u001b[G', ['a 20%']],
  ['column zero, and clearing', '10%\u001b[0G\u001b[K20%\u001b[0G\u001b[K30%', ['30%']],
  ['a column', 'a 10%\u001b[3G20%', ['a 20%']],
  ['left and right', 'abc\u001b[2D\u001b[1Cx', ['abx']],
  ['rows above', 'l1\nl2\n\u001b[2F new\n', [' new', 'l2', '']],
  ['rows below', 'l1\nl2\u001b[1A\u001b[1Bx', ['l1', 'x']],
  ['a place that is kept', '\u001b7 10%\u001b8 20%\u001b[s\u001b[u!', [' 20%!']],
  [
    'a place on the screen',
    'log\u001b7\u001b[24;1Hbar 1\u001b8\u001b7\u001b[24;1Hbar 2\u001b8 goes on',
    ['log goes on', 'bar 2'],
  ],
  ['a row that is cleared', 'bar\r\u001b[Kdone\nbar\u001b[2K\n', ['done', '', '']],
])('the output is drawn over by %s', (_, text, rows) => {
  expect(outputRows()(plainOutput(text))).toEqual(rows)
  // The same in pieces, as it arrives.
  const draw = outputRows()
  let drawn: readonly string[] = []
  for (const piece of text.split(/(?=%|[a-z] )/)) drawn = draw(plainOutput(piece))
  expect(drawn).toEqual(rows)
})

test('a bar that is drawn over a thousand times takes the room of one', () => {
  for (const back of ['\u001b[G', '\u001b[1G', '\u001b[1000D', '\b'.repeat(9), '\r\u001b[K']) {
    const text = Array.from({ length: 1000 }, (_, at) => `${back}${String(at).padStart(8)}%`).join('')
    expect(outputRows()(plainOutput(text)), JSON.stringify(back)).toEqual(['     999%'])
    expect(plainLastLine(`${text}\n`)).toBe('     999%')
    expect(plainOutput(text).length).toBeLessThan(1020)
  }
})
