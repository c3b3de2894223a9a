import fc from 'fast-check'
import * as v from 'valibot'
import { expect, test } from 'vitest'
import { printedNumbers } from '#core/runs/printed-numbers.ts'
import { RunFields } from '#shared/automation/run.ts'

test.for([
  ['loss=0.31', { loss: 0.31 }],
  ['epoch 3: train_loss = 1.5e-3, acc=97', { train_loss: 0.0015, acc: 97 }],
  ['val/loss: 0.5 | lr: 3e-4', { 'val/loss': 0.5, lr: 0.0003 }],
  ['{"step": 12, "loss": 0.25, "name": "a"}', { step: 12, loss: 0.25 }],
  ['loss=0.9\nloss=0.4', { loss: 0.4 }],
  [' 45%|####     | 45/100 [00:12<00:15, loss=0.7, acc=0.5]', { loss: 0.7, acc: 0.5 }],
  ['serving at localhost:6006, v1.2.3, 12:30:01', {}],
  ['loss=0.31\nloss=nan', { loss: 'nan' }],
  ['loss: NaN, acc = -Infinity, best=inf.', { loss: 'nan', acc: '-inf', best: 'inf' }],
  ['loss=nan\nloss=0.2', { loss: 0.2 }],
  ['{"loss": NaN, "step": 2, "low": -Infinity, "note": "NaN, x: 3"}', { loss: 'nan', step: 2, low: '-inf' }],
  [
    "{'loss': 0.3, 'grad_norm': nan, 'learning_rate': 4.5e-05, 'epoch': 1.0}",
    { loss: 0.3, grad_norm: 'nan', learning_rate: 4.5e-5, epoch: 1 },
  ],
  ["{'loss': '0.3', 'eval_acc': '97', 'name': 'a 5', 'is_on': True}", { loss: 0.3, eval_acc: 97 }],
  ['INFO metrics {"loss": 0.25, "step": 3}', { loss: 0.25, step: 3 }],
  ['loss=1,234.5, acc: 2,000,000', { loss: 1234.5, acc: 2_000_000 }],
  ['loss=0.31. Then epoch=3: acc=97%', { loss: 0.31, epoch: 3, acc: 97 }],
  ['step: 3/10', { step: 3 }],
  ['eta: 12:30, time=0:12:30, left: 1 day, 2:03:04', {}],
  ['on: 2024-01-01, at: 10/11/2024, version: 1.2.3, gpus: 0-7, size=1,2,3, ids: 1,23', {}],
  ['commit=7041e88 sha: 12e5410 mask=0x1F shape: 3x224 wait=5s name="5 apples"', {}],
  ['lr=1e-05 big=1e+20 small: 2.5E-7 plain=1e4', { lr: 1e-5, big: 1e20, small: 2.5e-7, plain: 1e4 }],
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
