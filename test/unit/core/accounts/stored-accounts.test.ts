import * as v from 'valibot'
import { expect, test } from 'vitest'
import { StoredAccounts } from '#core/accounts/stored-accounts.ts'

test.each(['../../etc', 'a1', 'a0000000g', '', 'constructor'])('%j is not an account id', id => {
  expect(v.is(StoredAccounts, { accounts: [{ id, name: 'x', baseUrl: 'y' }] })).toBe(false)
})
