import { expect, test } from 'vitest'
import { backoff } from '../../../../renderer/berth/socket.ts'
import { takeToken } from '../../../../renderer/berth/token.ts'

function pageAt(hash: string, kept: Record<string, string> = {}) {
  const addresses: string[] = []
  return {
    kept,
    addresses,
    location: { hash } as Location,
    history: {
      replaceState: (_: unknown, __: string, to: string) => addresses.push(to),
    } as unknown as History,
    sessionStorage: {
      getItem: (name: string) => kept[name] ?? null,
      setItem: (name: string, value: string) => {
        kept[name] = value
      },
    } as Storage,
  }
}

test('the token leaves the address at once and survives a reload', () => {
  const page = pageAt('#s3cret')
  expect(takeToken(page)).toBe('s3cret')
  expect(page.addresses).toEqual(['#/'])
  expect(takeToken(pageAt('#/offers', page.kept))).toBe('s3cret')
})

test('a page without a token has none, whatever screen it names', () => {
  expect(takeToken(pageAt('#/offers'))).toBeUndefined()
  expect(takeToken(pageAt(''))).toBeUndefined()
})

test('the page tries again soon at first, then less often, and never after more than 15 seconds', () => {
  expect(backoff(0, 0)).toBe(333)
  expect(backoff(0, 1)).toBe(500)
  expect(backoff(3, 1)).toBe(4000)
  expect(backoff(400, 1)).toBe(15_000)
})
