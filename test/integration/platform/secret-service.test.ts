import type { ChildProcess } from 'node:child_process'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import { openKeychain, SystemKeychain } from '#platform/keychain.ts'
import { NativeCalls } from '#platform/native-calls.ts'
import { codeOf } from '#test/berth/steps.ts'
import { startSession, type TestSession } from './session-bus.ts'

let session: TestSession
let daemon: ChildProcess

beforeAll(async () => {
  session = await startSession()
  vi.stubEnv('DBUS_SESSION_BUS_ADDRESS', session.env['DBUS_SESSION_BUS_ADDRESS'])
  daemon = session.start('gnome-keyring-daemon', ['--unlock', '--foreground', '--components=secrets'], 'pw')
  // The keyring is ready once a lookup finds no secret, instead of failing.
  const ready = async () => expect(await lookup('nothing')()).toEqual({ code: 1, output: '' })
  await vi.waitFor(ready, { timeout: 150_000 })
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await session.end()
})

/** Looks a secret up in the keychain with another program. */
const lookup = (account: string) => () =>
  session.run('secret-tool', ['lookup', 'service', 'berth', 'account', account])

test('a secret is stored in the desktop’s keychain under service berth until it is deleted', async () => {
  const keychain = await openKeychain(systemClock)
  expect(keychain.problem).toBeUndefined()
  expect(await keychain.get('https://example.com a01234567')).toBeUndefined()

  await keychain.set('https://example.com a01234567', 'first')
  await keychain.set('https://example.com a01234567', 'sécrèt “2”')
  expect(await keychain.get('https://example.com a01234567')).toBe('sécrèt “2”')
  expect((await lookup('https://example.com a01234567')()).output).toBe('sécrèt “2”')

  await keychain.delete('https://example.com a01234567')
  await keychain.delete('https://example.com a01234567')
  expect(await keychain.get('https://example.com a01234567')).toBeUndefined()
  expect((await lookup('https://example.com a01234567')()).code).toBe(1)
})

test('calls to a silent keychain time out, and work again once it answers', async () => {
  const { default: keytar } = await import('keytar')
  const nativeCalls = new NativeCalls()
  await (await openKeychain(systemClock)).set('a', 'kept')
  const limits = { probe: 300, call: 300 }
  const keychain = new SystemKeychain(keytar, { clock: systemClock, nativeCalls, limits })
  await vi.waitFor(
    async () => {
      await keychain.look()
      expect(keychain.problem).toBeUndefined()
    },
    { timeout: 150_000 },
  )
  daemon.kill('SIGSTOP')
  try {
    expect(await codeOf(keychain.get('a'))).toBe('keychain_silent')
    await keychain.set('b', 'x')
    expect(keychain.problem).toContain('didn’t answer')
  } finally {
    daemon.kill('SIGCONT')
  }
  await expect.poll(() => keychain.get('a').catch(() => undefined)).toBe('kept')
  await expect.poll(() => keychain.problem).toBeUndefined()
  expect((await lookup('b')()).output).toBe('x')
  expect(nativeCalls.underWay.size).toBe(0)
})

test('a keychain that stays locked doesn’t look empty or accept secrets silently', async () => {
  const keychain = await openKeychain(systemClock)
  await keychain.set('a', 'first')
  const service = ['--session', '--print-reply', '--dest=org.freedesktop.secrets', '/org/freedesktop/secrets']
  const collection = '/org/freedesktop/secrets/collection/login'
  const lock = 'org.freedesktop.Secret.Service.Lock'
  await session.run('dbus-send', [...service, lock, `array:objpath:${collection}`])
  const isLocked = { problem: { code: 'keychain_failed', message: expect.stringContaining('locked') } }
  await expect(keychain.get('a')).rejects.toMatchObject(isLocked)
  expect(await keychain.get('never stored')).toBeUndefined()
  await expect(keychain.delete('a')).rejects.toMatchObject(isLocked)
  expect(keychain.problem).toBeUndefined()
  await keychain.set('b', 'kept')
  expect(keychain.problem).toContain('locked')
  expect(await keychain.get('b')).toBe('kept')
})

test('a keychain without a permanent keyring says so, and returns its secrets', async () => {
  const other = await startSession()
  onTestFinished(() => other.end())
  other.start('gnome-keyring-daemon', ['--start', '--foreground', '--components=secrets'], '')
  const nothing = () => other.run('secret-tool', ['lookup', 'service', 'berth', 'account', 'nothing'])
  await vi.waitFor(async () => expect(await nothing()).toEqual({ code: 1, output: '' }), { timeout: 150_000 })
  // In its own process, since libsecret holds on to the first session that it meets.
  const script = `
    import { systemClock } from '#platform/clock-and-random.ts'
    import { openKeychain } from '#platform/keychain.ts'
    const keychain = await openKeychain(systemClock)
    await keychain.set('a', 'kept')
    console.log(await keychain.get('a'), keychain.problem)
    process.exit()`
  const words = ['--import', 'tsx', '--input-type=module', '-e', script]
  expect((await other.run(process.execPath, words)).output).toMatch(/^kept API keys stay in memory/)
})

test('without a keychain secrets stay in memory, and a problem says so', async () => {
  daemon.kill('SIGKILL')
  const empty = await startSession()
  try {
    vi.stubEnv('DBUS_SESSION_BUS_ADDRESS', empty.env['DBUS_SESSION_BUS_ADDRESS'])
    const at = (file: string) => new URL(`../../../electron/platform/${file}`, import.meta.url).href
    // The library keeps its first connection, so this runs in a new process.
    const script = `
      import { systemClock } from '${at('clock-and-random.ts')}'
      import { openKeychain } from '${at('keychain.ts')}'
      const keychain = await openKeychain(systemClock)
      await keychain.set('a', 'b')
      console.log(JSON.stringify([keychain.problem, await keychain.get('a')]))
      process.exit()`
    const { output } = await empty.run(process.execPath, [
      '--import',
      'tsx',
      '--input-type=module',
      '-e',
      script,
    ])
    expect(JSON.parse(output)).toEqual([expect.stringContaining('stay in memory'), 'b'])
  } finally {
    await empty.end()
  }
})
