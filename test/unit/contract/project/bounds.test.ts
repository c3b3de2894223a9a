import { describe, expect, test } from 'vitest'
import { dearestOf, limitsOf, mostOf } from '#contract/project/bounds.ts'

const run = 'python train.py'
const shown = 2_000_000

describe('a project’s highest cost', () => {
  test('follows from the hours at 110 % of the shown price, plus the attempts', () => {
    expect(limitsOf({ run }, shown)).toMatchObject({ price: 2.2, ceiling: 2.2 })
    expect(
      mostOf({ run }, [{ when: { kind: 'duration', seconds: 7200 }, action: 'stop', asleep: false }], shown),
    ).toBe(4_400_000 + 2_200_000)
  })

  test('follows from the price in the file, whatever was shown', () => {
    const spec = { run, machine: { price: 3 } }
    expect(dearestOf(spec, shown)).toBe(3_000_000)
    expect(
      mostOf(spec, [{ when: { kind: 'duration', seconds: 3600 }, action: 'stop', asleep: false }], shown),
    ).toBe(6_000_000)
  })

  test('follows from the dollar limit of each machine it may rent', () => {
    const spec = { run, machine: { interruptible: true }, outbid: { elsewhere: 2 } }
    expect(
      mostOf(spec, [{ when: { kind: 'cost', dollars: 5 }, action: 'stop', asleep: false }], 500_000),
    ).toBe(3 * 6_000_000)
  })

  test('is unknown where nothing limits it', () => {
    expect(
      mostOf(
        { run },
        [{ when: { kind: 'idle', below: 5, seconds: 1800 }, action: 'stop', asleep: false }],
        shown,
      ),
    ).toBeUndefined()
    expect(limitsOf({ run }, undefined).price).toBeUndefined()
  })
})
