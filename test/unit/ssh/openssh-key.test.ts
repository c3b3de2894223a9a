import { spawn } from 'node:child_process'
import { sign, verify } from 'node:crypto'
import { once } from 'node:events'
import ssh2 from 'ssh2'
import { expect, onTestFinished, test } from 'vitest'
import { fingerprintOf, makeKeyPair, typeOf } from '#ssh/keys/openssh-key.ts'

test('making keys goes on while the garbage collector runs all the time', async () => {
  const script = `
    import { makeKeyPair } from ${JSON.stringify(import.meta.resolve('#ssh/keys/openssh-key.ts'))}
    for (let n = 0; n < 5000; n++) makeKeyPair('x'.repeat(n % 97))`
  const flags = [
    '--max-semi-space-size=1',
    '--random-gc-interval=25',
    '--import',
    'tsx',
    '--input-type=module',
  ]
  const child = spawn(process.execPath, [...flags, '-e', script], { stdio: ['ignore', 'inherit', 'inherit'] })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  expect(await once(child, 'exit')).toEqual([0, null])
})

test('each of 600 generated key pairs is valid', () => {
  for (let n = 0; n < 600; n++) {
    const { privateKey, publicKey } = makeKeyPair('berth')
    const own = ssh2.utils.parseKey(privateKey)
    const other = ssh2.utils.parseKey(publicKey)
    if (own instanceof Error || other instanceof Error) throw new Error(`pair ${n} cannot be read`)
    expect(own.getPublicSSH().equals(other.getPublicSSH())).toBe(true)
    expect(own.getPublicSSH()).toHaveLength(51)
    const data = Buffer.from('signed')
    expect(verify(null, data, other.getPublicPEM(), sign(null, data, own.getPrivatePEM()))).toBe(true)
  }
})

test('a fingerprint has the format of ssh-keygen', () => {
  const blob = Buffer.from('AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl', 'base64')
  expect(fingerprintOf(blob)).toBe('SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU')
  expect(typeOf(blob)).toBe('ssh-ed25519')
})

test('data that is no key has no type', () => {
  expect([Buffer.alloc(0), Buffer.from('zz'), Buffer.from([255, 255, 255, 255, 0])].map(typeOf)).toEqual([
    '',
    '',
    '',
  ])
})
