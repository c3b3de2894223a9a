import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { WebhookFields } from '#shared/account/notifications.ts'
import { PhoneNumber, SixDigits } from '#shared/account/two-factor.ts'
import { BidPrice, FirstBid } from '#shared/market/rental-bounds.ts'
import { dearestOf, mostOf, retryBudget } from '#shared/project/bounds.ts'

test.each([
  ['+15551234567', true],
  ['+1 (555) 123-4567', true],
  ['+4915112345678', true],
  ['15551234567', false],
  ['0015551234567', false],
  ['+05551234567', false],
  ['+1555123456789012', false],
  ['+1555', false],
  ['+1555123456x', false],
])('a phone number is E.164: %s is %s', (number, valid) => {
  expect(v.is(PhoneNumber, number)).toBe(valid)
})

test('a two-factor code has six digits, with spaces between them or without', () => {
  const codes = ['123456', ' 123 456 ', '12345', '1234567', '12345a']
  expect(
    codes.map(code => v.safeParse(SixDigits, code)).map(({ success, output }) => success && output),
  ).toEqual(['123456', '123456', false, false, false])
})

test('a bid is changed to $32 at most, and begins with $128 at most', () => {
  const within = (schema: typeof BidPrice, bids: number[]) => bids.map(bid => v.is(schema, bid))
  expect(within(BidPrice, [0.0009, 0.001, 32, 32.01])).toEqual([false, true, true, false])
  expect(within(FirstBid, [0.0009, 0.001, 32.01, 128, 128.01])).toEqual([false, true, true, true, false])
})

test('a webhook address must be https', () => {
  const webhook = (url: string) => v.is(WebhookFields, { name: 'a', url, events: ['client:low_credit'] })
  expect(['https://example.com/hook', 'http://example.com/hook'].map(webhook)).toEqual([true, false])
})

const run = 'python train.py'
const shown = 2_000_000

describe('a project’s highest cost', () => {
  test('follows from the price in the file, whatever was shown', () => {
    const spec = { run, machine: { price: 3 } }
    expect(dearestOf(spec, shown)).toBe(3_000_000)
    expect(
      mostOf(spec, [{ when: { kind: 'duration', seconds: 3600 }, action: 'stop', asleep: false }], [shown]),
    ).toBe(6_000_000)
  })

  test('is unknown where nothing limits it', () => {
    expect(
      mostOf(
        { run },
        [{ when: { kind: 'idle', below: 5, seconds: 1800 }, action: 'stop', asleep: false }],
        [shown],
      ),
    ).toBeUndefined()
    expect(retryBudget({ run }, undefined).price).toBeUndefined()
  })
})
