import { expect, test } from 'vitest'
import { takeToken } from '#renderer/bridge/link.ts'
import { backoff } from '#renderer/bridge/socket.ts'

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

test('the token is removed from the address and survives a reload', () => {
  const page = pageAt('#s3cret')
  expect(takeToken(page)).toBe('s3cret')
  expect(page.addresses).toEqual(['#/'])
  expect(takeToken(pageAt('#/offers', page.kept))).toBe('s3cret')
})

test('an address without a token gives none', () => {
  expect(takeToken(pageAt('#/offers'))).toBeUndefined()
  expect(takeToken(pageAt(''))).toBeUndefined()
})

test('retries start soon, slow down and stay within 15 seconds', () => {
  expect(backoff(0, 0)).toBe(333)
  expect(backoff(0, 1)).toBe(500)
  expect(backoff(3, 1)).toBe(4000)
  expect(backoff(400, 1)).toBe(15_000)
})
