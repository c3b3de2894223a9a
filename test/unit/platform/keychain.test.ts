import { setImmediate as immediately } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import { fallbackKeychain, type Keytar, systemKeychain } from '#platform/keychain.ts'
import { testKeychain } from '#test/berth/machine.ts'

const limits = { probe: 50, call: 50 }

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

test('a keychain that hangs is given up, and not asked again until it answers', async () => {
  const { keytar, asked } = slowKeytar()
  const keychain = systemKeychain(keytar, systemClock, limits)
  await expect(keychain.get('a')).rejects.toMatchObject({ problem: { code: 'keychain_silent' } })
  await expect(keychain.get('b')).rejects.toMatchObject({ problem: { code: 'keychain_silent' } })
  expect(asked.map(({ account }) => account)).toEqual(['a'])

  asked[0]?.answer('late')
  await immediately()
  const again = keychain.get('c')
  await expect.poll(() => asked.length).toBe(2)
  asked[1]?.answer('secret')
  expect(await again).toBe('secret')
})

test('keychain calls run one at a time', async () => {
  const { keytar, asked } = slowKeytar()
  const keychain = systemKeychain(keytar, systemClock, { probe: 5_000, call: 5_000 })
  const first = keychain.get('a')
  const second = keychain.get('b')
  await expect.poll(() => asked.length).toBe(1)
  asked[0]?.answer('1')
  expect(await first).toBe('1')
  await expect.poll(() => asked.length).toBe(2)
  asked[1]?.answer(null)
  expect(await second).toBeUndefined()
})

test('a keychain failure is reported without the secret', async () => {
  const { keytar, asked } = slowKeytar()
  const setting = systemKeychain(keytar, systemClock, limits).set('a', 'top secret')
  await expect.poll(() => asked.length).toBe(1)
  asked[0]?.fail(new Error('Cannot create an item in a locked collection'))
  const problem = await setting.then(
    () => undefined,
    error => error.problem,
  )
  expect(problem).toMatchObject({
    code: 'keychain_failed',
    message: expect.stringContaining('locked collection'),
  })
  expect(JSON.stringify(problem)).not.toContain('top secret')
})

test('probing a missing keychain rejects', async () => {
  const { keytar, asked } = slowKeytar()
  const probing = systemKeychain(keytar, systemClock, limits).probe()
  await expect.poll(() => asked.length).toBe(1)
  asked[0]?.fail(new Error('no service'))
  await expect(probing).rejects.toThrow('no service')
})

test('a keychain that refuses to write is replaced by memory, with the problem given', async () => {
  const refusing: Keytar = {
    getPassword: async () => null,
    setPassword: () => Promise.reject(new Error('Object does not exist at path')),
    deletePassword: async () => false,
  }
  const keychain = fallbackKeychain(systemKeychain(refusing, systemClock, limits))
  expect(keychain).toMatchObject({ persistent: true, problem: undefined })
  await keychain.set('a', 'top secret')
  expect(keychain.persistent).toBe(false)
  expect(keychain.problem).toContain('Object does not exist')
  expect(keychain.problem).not.toContain('top secret')
  expect(await keychain.get('a')).toBe('top secret')
  await keychain.delete('a')
  expect(await keychain.get('a')).toBeUndefined()
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
  const keychain = fallbackKeychain(systemKeychain(keytar, systemClock, limits))
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
})

test('a keychain that comes later gets the secrets from memory, and listeners are called', async () => {
  const entries = new Map([['kept before', 'old']])
  const late = testKeychain(entries)
  const keychain = fallbackKeychain(late, 'It is not there yet.')
  const told: (string | undefined)[] = []
  keychain.onBack?.(() => told.push(keychain.problem))
  await keychain.set('a', 'secret')
  expect(await keychain.get('kept before')).toBeUndefined()
  expect(keychain).toMatchObject({ persistent: false, problem: 'It is not there yet.' })
  expect([...entries.keys()]).toEqual(['kept before'])

  await keychain.found()
  expect(told).toEqual([undefined])
  expect(entries.get('a')).toBe('secret')
  expect(await keychain.get('kept before')).toBe('old')
  expect(keychain.persistent).toBe(true)
})

test('a call that was given up reports when it ends after all', async () => {
  const { keytar, asked } = slowKeytar()
  const keychain = systemKeychain(keytar, systemClock, limits)
  const back = new Promise<void>(resolve => keychain.onBack(resolve))
  await expect(keychain.get('a')).rejects.toMatchObject({ problem: { code: 'keychain_silent' } })
  asked[0]?.answer('late')
  await back
})
