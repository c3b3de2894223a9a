import { expect, test } from 'vitest'
import { accountBriefly, stateWords, unreadWords } from '#renderer/bridge/stateWords.ts'
import { highBid } from '#renderer/features/market/offerWords.ts'
import { accountView, instanceView } from '#test/unit/views.ts'

test('an unknown state is shown by its own word, cut short', () => {
  expect(stateWords('other', 'frozen').word).toBe('Frozen')
  expect(stateWords('other', 'x'.repeat(500)).word).toHaveLength(24)
  expect(stateWords('other', null).word).toBe('Unknown')
  expect(stateWords('running', 'running')).toEqual({ word: 'Running', shape: 'running' })
})

test('a bid over three times the lowest is questioned with the factor', () => {
  expect(highBid(31_800_000, 42_000)).toBe('That’s 757 × the minimum bid of $0.042/h. You pay your full bid.')
  expect(highBid(126_000, 42_000)).toBeUndefined()
  expect(highBid(130_000, 42_000)).toContain('3.1 ×')
  expect(highBid(130_000, undefined)).toBeUndefined()
})

test('another account is told in brief: whether it’s reached, what runs and what that costs', () => {
  expect(accountBriefly(accountView())).toBe('')
  const problem = { code: 'unreachable', message: 'It can’t be reached.' }
  const connection = { status: 'refused', problem } as const
  const spending = accountView({ connection, spendPerHour: 267_000 }, instanceView({ state: 'running' }))
  expect(accountBriefly(spending)).toBe('Key refused, 1 running, $0.267/h')
})

test('unreadable items are counted', () => {
  expect(unreadWords(1, 'offer')).toBe('1 offer couldn’t be read and is left out.')
  expect(unreadWords(1200, 'key')).toBe('1,200 keys couldn’t be read and are left out.')
})
