import { expect } from 'vitest'
import type { ImportPlan } from '#shared/export.ts'
import { rentRunning } from '#test/berth/steps.ts'
import { test } from '#test/berth/world.ts'

test.concurrent('an export has none of the secrets that Berth knows, and another Berth takes it over', async ({
  connected,
}) => {
  const { world, under: first } = await connected()
  await rentRunning(first)
  await first.run('saveSecret', { name: 'HF_TOKEN', value: 'hf_verysecretvalue' })
  await first.run('changeSettings', { settings: { theme: 'dark', lowCreditDollars: 12 } })
  const query = { type: 'on-demand', verifiedOnly: true, storage: 20, limit: 50 } as const
  await first.run('saveSearch', { name: 'cheap', search: { query, filter: {} } })
  const text = await first.run('exportBerth', {})
  const secrets = [...world.keychain.entries.values(), world.sim.apiKey]
  expect(secrets).toContain('hf_verysecretvalue')
  for (const secret of secrets) expect(text).not.toContain(secret)
  const { userId, id } = first.account()

  // On another computer, with another keychain.
  await first.run('removeAccount', { account: id })
  await first.run('changeSettings', { settings: { theme: 'light' } })
  const plan: ImportPlan = await first.run('planImport', { text })
  expect(plan).toMatchObject({ settings: true, accounts: [{ baseUrl: world.sim.baseUrl }] })
  expect(first.berth.state().settings.theme).toBe('light')
  await first.run('importBerth', { text })
  expect(first.berth.state()).toMatchObject({ settings: { theme: 'dark', lowCreditDollars: 12 } })
  await first.until(() => first.berth.state().accounts[id]?.connection.status === 'locked')
  expect(first.berth.state().accounts[id]?.connection).toMatchObject({
    problem: { code: 'key_missing', message: 'This account has no API key here yet.' },
  })
  // There is no other: its screens ask for its key, and not for any account's.
  expect(first.berth.state().shown).toBe(id)
  // Again, nothing is added twice.
  await first.run('importBerth', { text })
  expect(Object.keys(first.berth.state().accounts)).toEqual([id])
  expect(Object.keys(first.berth.state().savedSearches)).toHaveLength(1)
  await first.run('replaceKey', { account: id, key: world.sim.apiKey })
  await first.until(() => first.berth.state().accounts[id]?.connection.status === 'online')
  expect(first.berth.state().accounts[id]?.userId).toBe(userId)
  await expect(first.run('importBerth', { text: '{}' })).rejects.toMatchObject({
    problem: { code: 'bad_export' },
  })
})
