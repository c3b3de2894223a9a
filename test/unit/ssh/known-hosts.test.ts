import { expect, test } from 'vitest'
import { hostKeyAlias, openKnownHosts } from '../../../electron/ssh/connection/known-hosts.ts'
import { MemoryFiles } from '../core/memory-files.ts'

/** Files of that name and text. */
function filesWith(texts: Record<string, string>): MemoryFiles {
  const files = new MemoryFiles()
  for (const [name, text] of Object.entries(texts)) files.texts.set(name, text)
  return files
}

const account = 'a00000001'
const alias = hostKeyAlias(account, 7)

/** A host key as it goes over the wire: its type, and bytes that differ. */
function key(fill: number): Buffer {
  const field = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes])
  return Buffer.concat([field(Buffer.from('ssh-ed25519')), field(Buffer.alloc(32, fill))])
}
const line = (fill: number) => `${alias} ssh-ed25519 ${key(fill).toString('base64')}\n`

test('a damaged book refuses every host, and is left as it is', async () => {
  const files = filesWith({ 'known-hosts.json': '{"version":1,"hosts":' })
  const hosts = openKnownHosts(files)
  await expect(hosts.verify(account, 7, key(1))).rejects.toMatchObject({
    problem: { code: 'known_hosts_damaged' },
  })
  await expect(hosts.remember(account, 7, key(1))).rejects.toMatchObject({
    problem: { code: 'known_hosts_damaged' },
  })
  expect(await files.read('known-hosts.json')).toBe('{"version":1,"hosts":')
})

test('what Berth knows holds against what stands in the OpenSSH file', async () => {
  const files = filesWith({})
  await openKnownHosts(files).remember(account, 7, key(1))
  await files.write('known_hosts', line(2))
  const hosts = openKnownHosts(files)
  await hosts.remember(account, 8, key(3))
  expect(await hosts.known(account, 7)).toEqual(key(1))
})

test('of several lines that the system’s ssh wrote for one instance the first is taken over', async () => {
  const hosts = openKnownHosts(filesWith({ known_hosts: line(1) + line(2) }))
  expect(await hosts.known(account, 7)).toEqual(key(1))
})

test('of two connections that see an instance first at once, the later with another key is refused', async () => {
  const hosts = openKnownHosts(filesWith({}))
  const [first, second] = await Promise.allSettled([
    hosts.remember(account, 7, key(1)),
    hosts.remember(account, 7, key(2)),
  ])
  expect(first.status).toBe('fulfilled')
  expect(second).toMatchObject({ status: 'rejected', reason: { problem: { code: 'host_key_changed' } } })
  expect(await hosts.known(account, 7)).toEqual(key(1))
})
