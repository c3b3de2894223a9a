import * as v from 'valibot'
import { expect, test } from 'vitest'
import { rememberedView, StoredAccounts } from '#core/accounts/stored-accounts.ts'
import { MemoryFiles } from '#test/berth/machine.ts'

test.each(['../../etc', 'a1', 'a0000000g', '', 'constructor'])('%j is not an account id', id => {
  expect(v.is(StoredAccounts, { accounts: [{ id, name: 'x', baseUrl: 'y' }] })).toBe(false)
})

test('a remembered account tells by both clocks when it was last heard of', async () => {
  const files = new MemoryFiles()
  const last = { at: 1_900_000_000, heardAt: 1_800_000_000_000, spendPerHour: 0, instances: {} }
  files.texts.set('accounts/a1234abcd/last-seen.json', JSON.stringify(last))
  const stored = { id: 'a1234abcd', name: 'lab', baseUrl: 'https://x.example' } as const
  const { connection } = await rememberedView(files, stored, 1_800_000_060_000)
  expect(connection).toEqual({ status: 'connecting', since: 1_900_000_000, heardAt: 1_800_000_000_000 })
})
