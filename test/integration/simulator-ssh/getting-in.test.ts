import { createHash } from 'node:crypto'
import ssh2 from 'ssh2'
import { expect, test } from 'vitest'
import { type KeyPair, newKey } from '#test/new-key.ts'
import { connect, exec, ownKey, startInstance } from './instance.ts'

const { generateKeyPairSync } = ssh2.utils

const kinds: [string, KeyPair][] = [
  ['ed25519', newKey()],
  ['ecdsa of 256 bits', generateKeyPairSync('ecdsa', { bits: 256 })],
  ['ecdsa of 521 bits', generateKeyPairSync('ecdsa', { bits: 521 })],
  ['rsa', generateKeyPairSync('rsa', { bits: 2048 })],
]

test.each(kinds)('logs in with an attached %s key', async (_kind, key) => {
  const instance = await startInstance({ authorizedKeys: () => [ownKey.public, `${key.public} me@home`] })
  const client = await connect(instance, { privateKey: key.private })
  expect(await exec(client, 'whoami')).toEqual({ out: 'root\n', err: '', status: 0 })
})

test('an unattached key, another user and a password are refused', async () => {
  const instance = await startInstance()
  const stranger = newKey()
  await expect(connect(instance, { privateKey: stranger.private })).rejects.toThrow(/authentication/i)
  await expect(connect(instance, { username: 'ubuntu' })).rejects.toThrow(/authentication/i)
  await expect(connect(instance, { privateKey: '', password: 'root' })).rejects.toThrow(/authentication/i)
})

test('an attached public key with a signature by another key is refused', async () => {
  const stranger = newKey()
  const instance = await startInstance()
  const shown = ssh2.utils.parseKey(ownKey.public)
  const held = ssh2.utils.parseKey(stranger.private)
  if (shown instanceof Error || held instanceof Error) throw new Error('The keys of this test are broken.')
  // Shows the attached public key and signs with another one.
  class Forger extends ssh2.BaseAgent {
    getIdentities(done: (error: null, keys: ssh2.ParsedKey[]) => void): void {
      done(null, [shown as ssh2.ParsedKey])
    }
    sign(...args: unknown[]): void {
      const done = args.at(-1) as (error: null, signature: Buffer) => void
      done(null, (held as ssh2.ParsedKey).sign(args[1] as Buffer))
    }
  }
  const forger = new Forger()
  await expect(
    connect(instance, { privateKey: '', agent: forger as unknown as ssh2.BaseAgent }),
  ).rejects.toThrow(/authentication/i)
})

test('a key attached while the instance runs works from then on', async () => {
  const late = newKey()
  const attached: string[] = []
  const instance = await startInstance({ authorizedKeys: () => attached })
  await expect(connect(instance, { privateKey: late.private })).rejects.toThrow(/authentication/i)
  attached.push(late.public)
  await connect(instance, { privateKey: late.private })
})

test('the host key depends on seed and instance, and matches the announced one', async () => {
  const seen: string[] = []
  const announcedBy = async (seed: number, instanceId: number) => {
    const instance = await startInstance({ seed, instanceId })
    await connect(instance, {
      hostVerifier: (key: Buffer) => {
        seen.push(`SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`)
        return true
      },
    })
    return instance.hostKeyFingerprint
  }
  const announced = [
    await announcedBy(7, 4711),
    await announcedBy(7, 4711),
    await announcedBy(7, 4712),
    await announcedBy(8, 4711),
  ]
  expect(seen).toEqual(announced)
  expect(announced[0]).toBe(announced[1])
  expect(new Set(announced).size).toBe(3)
})
