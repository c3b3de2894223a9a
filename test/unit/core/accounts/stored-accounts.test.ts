import * as v from 'valibot'
import { expect, test } from 'vitest'
import { keyEntry, StoredAccounts } from '#core/accounts/account-sessions.ts'

test('each base URL and account has its own keychain entry', () => {
  const account = { id: 'a00000001', baseUrl: 'https://gpu.example' }
  expect(keyEntry(account)).toContain('https://gpu.example')
  expect(keyEntry(account)).not.toBe(keyEntry({ ...account, baseUrl: 'https://other.example' }))
  expect(keyEntry(account)).not.toBe(keyEntry({ ...account, id: 'a00000002' }))
})

test('the stored form of an account drops its API key', () => {
  const account = {
    id: 'a00000001',
    name: 'Lab',
    baseUrl: 'https://gpu.example',
    userId: 7,
    key: 'sk-secret',
  }
  expect(JSON.stringify(v.parse(StoredAccounts, { accounts: [account] }))).not.toContain('sk-secret')
})

test.each(['../../etc', 'a1', 'a0000000g', '', 'constructor'])('%j is not an account id', id => {
  expect(v.is(StoredAccounts, { accounts: [{ id, name: 'x', baseUrl: 'y' }] })).toBe(false)
})
