import { expect, test } from 'vitest'
import { type Keytar, SystemKeychain } from '#platform/keychain.ts'
import { flushPromises, HandClock } from '#test/berth/clocks.ts'

/** A keychain that the test answers by hand. */
function slowKeytar() {
  const asked: { account: string; answer: (secret: string | null) => void; fail: (error: Error) => void }[] =
    []
  const ask = (_service: string, account: string) =>
    new Promise<string | null>((answer, fail) => asked.push({ account, answer, fail }))
  const keytar: Keytar = {
    getPassword: ask,
    setPassword: async (service, account) => void (await ask(service, account)),
    deletePassword: async (service, account) => (await ask(service, account)) !== null,
  }
  return { keytar, asked }
}

/** One whose first probe has been answered. */
async function found({ keytar, asked }: ReturnType<typeof slowKeytar>, clock = new HandClock()) {
  const keychain = new SystemKeychain(keytar, { clock })
  const looking = keychain.look()
  await flushPromises()
  asked.shift()?.answer(null)
  await looking
  return keychain
}

test('a keychain that hangs is given up, and not asked again until it answers', async () => {
  const slow = slowKeytar()
  const { asked } = slow
  const clock = new HandClock()
  const keychain = await found(slow, clock)
  const told: (string | undefined)[] = []
  keychain.onChange(() => told.push(keychain.problem))
  const isSilent = { problem: { code: 'keychain_silent' } }
  const first = expect(keychain.get('a')).rejects.toMatchObject(isSilent)
  await clock.pass(60_000)
  await first
  await expect(keychain.get('b')).rejects.toMatchObject(isSilent)
  expect(asked.map(({ account }) => account)).toEqual(['a'])

  asked[0]?.answer('late')
  await flushPromises()
  // It is looked for again, and what waits for it is told.
  expect(asked).toHaveLength(2)
  asked[1]?.answer(null)
  await flushPromises()
  expect(told).toEqual([undefined])
  const again = keychain.get('c')
  await flushPromises()
  asked[2]?.answer('secret')
  expect(await again).toBe('secret')
})

test('keychain calls run one at a time', async () => {
  const slow = slowKeytar()
  const { asked } = slow
  const keychain = await found(slow)
  const first = keychain.get('a')
  const second = keychain.get('b')
  await flushPromises()
  asked[0]?.answer('1')
  expect(await first).toBe('1')
  await flushPromises()
  asked[1]?.answer(null)
  expect(await second).toBeUndefined()
})

test('a keychain failure is reported without the secret, which stays in memory', async () => {
  const slow = slowKeytar()
  const { asked } = slow
  const keychain = await found(slow)
  const told: (string | undefined)[] = []
  keychain.onChange(() => told.push(keychain.problem))
  const setting = keychain.set('a', 'top secret')
  await flushPromises()
  asked[0]?.fail(new Error('Cannot create an item in a locked collection'))
  await setting
  expect(told).toEqual([expect.stringContaining('locked collection')])
  expect(keychain.problem).not.toContain('top secret')
  expect(await keychain.get('a')).toBe('top secret')
  expect(asked).toHaveLength(1)
})

test('a delete removes the secret from the system too, even if a newer one is in memory', async () => {
  const entries = new Map<string, string>([['a', 'old']])
  let refuses = true
  const changing = async (change: () => unknown) => {
    if (refuses) throw new Error('locked')
    change()
  }
  const keytar: Keytar = {
    getPassword: async (_service, account) => entries.get(account) ?? null,
    setPassword: (_service, account, secret) => changing(() => entries.set(account, secret)),
    deletePassword: async (_service, account) => {
      await changing(() => entries.delete(account))
      return true
    },
  }
  const keychain = new SystemKeychain(keytar, { clock: new HandClock() })
  await keychain.look()
  await keychain.set('a', 'new')
  expect(await keychain.get('a')).toBe('new')
  refuses = false
  await keychain.delete('a')
  expect(await keychain.get('a')).toBeUndefined()
  expect(entries.size).toBe(0)

  // If the system refuses, the secret in memory is deleted all the same.
  refuses = true
  await keychain.set('b', 'secret')
  await keychain.delete('b')
  expect(await keychain.get('b')).toBeUndefined()
  await expect(keychain.delete('b')).rejects.toMatchObject({ problem: { code: 'keychain_failed' } })
})

test('a keychain that comes later gets the secrets from memory, and listeners are called', async () => {
  const entries = new Map([['kept before', 'old']])
  const clock = new HandClock()
  let isThere = false
  const there = async <T>(answer: () => T) => {
    if (!isThere) throw new Error('no service')
    return answer()
  }
  const keytar: Keytar = {
    getPassword: (_service, account) => there(() => entries.get(account) ?? null),
    setPassword: (_service, account, secret) => there(() => void entries.set(account, secret)),
    deletePassword: (_service, account) => there(() => entries.delete(account)),
  }
  const keychain = new SystemKeychain(keytar, { clock })
  const told: (string | undefined)[] = []
  keychain.onChange(() => told.push(keychain.problem))
  await keychain.look()
  await keychain.set('a', 'secret')
  expect(await keychain.get('kept before')).toBeUndefined()
  expect(await keychain.get('a')).toBe('secret')
  expect(keychain.problem).toContain('no service')
  await clock.pass(60_000)
  expect(told).toEqual([])

  isThere = true
  await clock.pass(10_000)
  expect(told).toEqual([undefined])
  expect(entries.get('a')).toBe('secret')
  expect(await keychain.get('kept before')).toBe('old')
  expect(clock.waiting).toEqual([])
})
