import { expect, test } from 'vitest'
import { gainWords } from '../../../../renderer/screens/account/credit/gainWords.ts'

test('what stopping wins is said in money and time, and in money alone once the credit is used up', () => {
  expect(gainWords({ saves: 1_000_000, wins: 7200 }, false)).toBe('saves $1.000/h, lasts 2 h longer')
  expect(gainWords({ saves: 1_000_000, wins: 400 * 86_400 }, false)).toBe(
    'saves $1.000/h, lasts over a year longer',
  )
  expect(gainWords({ saves: 1_000_000 }, false)).toBe('saves $1.000/h, and nothing more is spent')
  expect(gainWords({ saves: 1_000_000, wins: 0 }, true)).toBe('saves $1.000/h')
  expect(gainWords({ saves: 1_000_000 }, true)).toBe('saves $1.000/h, and nothing more is spent')
})
