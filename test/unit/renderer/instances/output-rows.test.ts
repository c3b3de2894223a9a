import { expect, test } from 'vitest'
import { plainOutput } from '../../../../electron/core/runs/output/plain.ts'
import { outputRows, rowsOfPage } from '../../../../renderer/features/runs/output/outputRows.ts'

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
