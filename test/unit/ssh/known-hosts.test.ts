import { expect, test } from 'vitest'
import { hostKeyAlias, openKnownHosts } from '#ssh/connection/known-hosts.ts'
import { MemoryFiles } from '#test/berth/machine.ts'

/** Files of that name and text. */
function filesWith(texts: Record<string, string>): MemoryFiles {
  const files = new MemoryFiles()
  for (const [name, text] of Object.entries(texts)) files.texts.set(name, text)
  return files
}

const account = 'a00000001'
const alias = hostKeyAlias(account, 7)

/** A host key in wire format: its type and 32 bytes of `fill`. */
function key(fill: number): Buffer {
  const field = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes])
  return Buffer.concat([field(Buffer.from('ssh-ed25519')), field(Buffer.alloc(32, fill))])
}
/** Nothing on the instance tells which one it is. */
const unknown = async () => 'unknown' as const
const line = (fill: number) => `${alias} ssh-ed25519 ${key(fill).toString('base64')}\n`

test('a damaged file refuses every host and stays unchanged', async () => {
  const files = filesWith({ 'known-hosts.json': '{"version":1,"hosts":' })
  const hosts = openKnownHosts(files)
  await expect(hosts.verify(account, 7, key(1))).rejects.toMatchObject({
    problem: { code: 'known_hosts_damaged' },
  })
  await expect(hosts.remember(account, 7, key(1), unknown)).rejects.toMatchObject({
    problem: { code: 'known_hosts_damaged' },
  })
  expect(await files.read('known-hosts.json')).toBe('{"version":1,"hosts":')
})

test('Berth’s own record wins over the OpenSSH file', async () => {
  const files = filesWith({})
  await openKnownHosts(files).remember(account, 7, key(1), unknown)
  await files.write('known_hosts', line(2))
  const hosts = openKnownHosts(files)
  await hosts.remember(account, 8, key(3), unknown)
  expect(await hosts.known(account, 7)).toEqual(key(1))
})

test('of several lines for one instance in the OpenSSH file the first is used', async () => {
  const hosts = openKnownHosts(filesWith({ known_hosts: line(1) + line(2) }))
  expect(await hosts.known(account, 7)).toEqual(key(1))
})

test('of two first connections with different keys the second is refused', async () => {
  const hosts = openKnownHosts(filesWith({}))
  const [first, second] = await Promise.allSettled([
    hosts.remember(account, 7, key(1), unknown),
    hosts.remember(account, 7, key(2), unknown),
  ])
  expect(first.status).toBe('fulfilled')
  expect(second).toMatchObject({ status: 'rejected', reason: { problem: { code: 'host_key_changed' } } })
  expect(await hosts.known(account, 7)).toEqual(key(1))
})

test('asks about another instance’s host key, with both names, until accepted', async () => {
  const nameOf = (of: string, instance: number) => `#${instance} of ${of === account ? 'Home' : 'Work'}`
  const files = filesWith({})
  const hosts = openKnownHosts(files, nameOf)
  await hosts.remember(account, 7, key(1), unknown)
  const asked = await hosts.remember('a00000002', 8, key(1), unknown).catch(error => error.problem)
  expect(asked).toMatchObject({ code: 'host_key_known_elsewhere' })
  expect(asked.message).toBe(
    '#8 of Work has the same host key as #7 of Home, and nothing on it tells which of them answered.',
  )
  await expect(hosts.remember('a00000002', 8, key(1), unknown)).rejects.toMatchObject({ problem: asked })
  expect(await hosts.known('a00000002', 8)).toBeUndefined()

  await hosts.accept('a00000002', 8, asked.facts.offered)
  // Accepted for this instance only, also after a restart; the next one with that key is asked about.
  const later = openKnownHosts(files, nameOf)
  expect(await later.verify('a00000002', 8, key(1))).toBe('known')
  const third = await later.remember(account, 9, key(1), unknown).catch(error => error.problem)
  // The other account's is named first.
  expect(third.message).toContain('the same host key as #8 of Work and 1 more')
})

test('a host key in the OpenSSH file under another instance is refused too', async () => {
  const hosts = openKnownHosts(filesWith({ known_hosts: line(1) }))
  await expect(hosts.remember(account, 8, key(1), unknown)).rejects.toMatchObject({
    problem: { code: 'host_key_known_elsewhere' },
  })
})

test('of two instances that show the same new key at once only the first is accepted', async () => {
  const hosts = openKnownHosts(filesWith({}))
  const [first, second] = await Promise.allSettled([
    hosts.remember(account, 7, key(1), unknown),
    hosts.remember(account, 8, key(1), unknown),
  ])
  expect(first.status).toBe('fulfilled')
  expect(second).toMatchObject({ reason: { problem: { code: 'host_key_known_elsewhere' } } })
})

test('a forgotten host key raises no question when another instance shows it', async () => {
  const files = filesWith({})
  const hosts = openKnownHosts(files)
  await hosts.remember(account, 7, key(1), unknown)
  await hosts.forget(account, 7)
  expect(await hosts.verify('a00000002', 8, key(1))).toBe('new')
  await hosts.remember(account, 7, key(1), unknown)
  await hosts.remember('a00000002', 9, key(2), unknown)
  await hosts.forgetAccount(account)
  expect(await hosts.verify('a00000002', 8, key(1))).toBe('new')
  expect(await files.read('known_hosts')).not.toContain(account)
  expect(await hosts.known('a00000002', 9)).toEqual(key(2))
})

test('any number of instances may have one host key once each tells that it is itself, and none another key then', async () => {
  const hosts = openKnownHosts(filesWith({}))
  const asked: number[] = []
  const instances = Array.from({ length: 12 }, (_, index) => index + 1)
  const others = await Promise.all(
    instances.map(instance =>
      hosts.remember(account, instance, key(1), async () => {
        asked.push(instance)
        return 'own'
      }),
    ),
  )
  expect(asked).toHaveLength(11)
  expect(others.filter(before => before.length > 0)).toHaveLength(11)
  expect(await Promise.all(instances.map(instance => hosts.verify(account, instance, key(1))))).toEqual(
    instances.map(() => 'known'),
  )
  expect(await hosts.remember(account, 1, key(1), unknown)).toHaveLength(11)
  for (const instance of instances)
    await expect(hosts.verify(account, instance, key(2))).rejects.toMatchObject({
      problem: { code: 'host_key_changed' },
    })
})
