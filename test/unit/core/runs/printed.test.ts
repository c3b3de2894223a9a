import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { RunFields } from '#contract/automation/run.ts'
import { printedNumbers } from '#core/runs/programs.ts'

test.for([
  ['loss=0.31', { loss: 0.31 }],
  ['epoch 3: train_loss = 1.5e-3, acc=97', { train_loss: 0.0015, acc: 97 }],
  ['val/loss: 0.5 | lr: 3e-4', { 'val/loss': 0.5, lr: 0.0003 }],
  ['{"step": 12, "loss": 0.25, "name": "a"}', { step: 12, loss: 0.25 }],
  ['loss=0.9\nloss=0.4', { loss: 0.4 }],
  [' 45%|####     | 45/100 [00:12<00:15, loss=0.7, acc=0.5]', { loss: 0.7, acc: 0.5 }],
  ['serving at localhost:6006, v1.2.3, 12:30:01', {}],
  ['loss=nan', {}],
  ['{"loss": ', {}],
  ['loss=1e999, acc=1', { acc: 1 }],
  ['{"loss": 1e999, "acc": 1}', { acc: 1 }],
  ['host=10.0.0.1', {}],
] as const)('of %j the numbers are %j', ([text, numbers]) => {
  expect(printedNumbers(text)).toEqual(numbers)
})

test('a number that is no longer printed stays, and there are at most twenty', () => {
  expect(printedNumbers('acc=1', { loss: 2 })).toEqual({ loss: 2, acc: 1 })
  const many = Array.from({ length: 40 }, (_, n) => `a${n}=${n}`).join('\n')
  expect(Object.keys(printedNumbers(many))).toHaveLength(20)
})

test('whatever is printed, its numbers can be stored and read', () => {
  const digits = fc
    .tuple(
      fc.constantFrom('', '-', '+'),
      fc.nat(),
      fc.constantFrom(0, 400),
      fc.constantFrom('', 'e999', 'E-400'),
    )
    .map(([sign, number, zeros, exponent]) => `${sign}${number}${'0'.repeat(zeros)}${exponent}`)
  const lines = fc.oneof(
    digits.map(number => `loss=${number}`),
    digits.map(number => `{"loss": ${number.replace(/^\+/, '')}}`),
    fc.string({ unit: 'binary' }),
  )
  const { printed } = RunFields.entries
  fc.assert(
    fc.property(fc.array(lines, { maxLength: 5 }), rows => {
      const numbers = printedNumbers(rows.join('\n'))
      expect(v.is(printed, JSON.parse(JSON.stringify(numbers)))).toBe(true)
    }),
    { numRuns: 30 },
  )
})
