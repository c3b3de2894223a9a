import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { systemClock } from '#platform/clock-and-random.ts'
import { outputOf } from '#ssh/exec.ts'
import { openSftp } from '#ssh/files/sftp.ts'
import type { Shell } from '#ssh/shell/shell.ts'
import { codeOf } from '#test/berth/steps.ts'
import { liveMemory } from '#test/live-memory.ts'
import { noSshd } from './own-root.ts'
import { account, answerTo, target, type Wanted } from './steps.ts'
import { useSshd } from './use-sshd.ts'

const mega = 1024 * 1024

describe.skipIf(noSshd)(`shells at a real OpenSSH server${noSshd}`, () => {
  const at = useSshd(['MaxSessions 3'])

  const open = (wanted: Wanted = { proxy: at.sshd }) => at.ssh.openShell(target(wanted))

  test('10 MB of output arrive complete', async () => {
    const file = join(at.sshd.folder, 'printed')
    const text = randomBytes(7.5 * mega).toString('base64')
    writeFileSync(file, text)
    const shell = await open()
    await answerTo(shell, 'stty raw -echo')
    shell.stream.write(`exec sh -c 'printf %s BE""GIN; cat ${file}'\n`)
    const { bytes, hash } = await drain(shell)
    expect(bytes).toBe(text.length)
    expect(hash).toBe(createHash('sha256').update(text).digest('hex'))
  })

  test('a paste of 4 MB is slowed by backpressure and arrives complete', async () => {
    const file = join(at.sshd.folder, 'pasted')
    const shell = await open()
    await answerTo(shell, 'stty raw -echo')
    const pasted = randomBytes(3 * mega).toString('base64')
    shell.stream.resume()
    shell.stream.write(`head -c ${pasted.length} > ${file}; exit\n`)
    for (let at = 0; at < pasted.length; at += 65_536) {
      if (!shell.stream.write(pasted.slice(at, at + 65_536))) await once(shell.stream, 'drain')
    }
    expect(await shell.ended).toBeUndefined()
    expect(statSync(file).size).toBe(pasted.length)
    expect(readFileSync(file, 'latin1') === pasted).toBe(true)
  })

  test('unread output blocks its writer, and memory does not grow', async () => {
    const count = join(at.sshd.folder, 'count')
    const shell = await open()
    await answerTo(shell, 'stty raw -echo')
    shell.stream.removeAllListeners('data')
    shell.stream.pause()
    // dd writes its summary to `count` once it is done.
    shell.stream.write(`exec sh -c 'printf %s BE""GIN; dd if=/dev/zero bs=64k count=960 2>${count}'\n`) // 60 MB
    await expect.poll(() => existsSync(count)).toBe(true)
    await wait(1000)
    const before = liveMemory()
    await wait(2000)
    expect(liveMemory() - before).toBeLessThan(8 * mega)
    expect(shell.stream.readableLength).toBeLessThan(mega)
    // The window of the channel is 2 MB; the rest waits on the other side.
    expect(statSync(count).size).toBe(0)
    const { bytes } = await drain(shell)
    expect(bytes).toBe(960 * 65_536)
  })

  test('shells of one instance share a connection, which the last one closes', async () => {
    const [one, other] = await Promise.all([open(), open()])
    expect(at.sshd.connections()).toBe(1)
    expect(await answerTo(one, 'echo one')).toBe('one')
    one.close()
    expect(await one.ended).toBeUndefined()
    expect(await answerTo(other, 'echo other')).toBe('other')
    other.close()
    await expect.poll(() => at.sshd.connections()).toBe(0)
  })

  test('shells beyond the server’s limit per connection get another connection', async () => {
    const shells: Shell[] = []
    for (let n = 0; n < 5; n++) shells.push(await open())
    expect(at.sshd.connections()).toBe(2)
    for (const [n, shell] of shells.entries()) expect(await answerTo(shell, `echo ${n}`)).toBe(String(n))
  })

  test('reports a server’s session limit, and uses another connection next', async () => {
    const lease = await at.ssh.connect(target({ proxy: at.sshd }))
    for (let n = 0; n < 3; n++) await open()
    const { connection } = lease
    const run = () => outputOf(connection, 'true', { clock: systemClock, within: 10_000, most: 100 })
    expect(await codeOf(run())).toBe('ssh_full')
    expect(await codeOf(openSftp(connection, systemClock))).toBe('ssh_full')
    const next = await at.ssh.connect(target({ proxy: at.sshd }))
    expect(next.found).toBe(false)
    ;(await openSftp(next.connection, systemClock)).end()
    expect(at.sshd.connections()).toBe(2)
    next.release()
    lease.release()
  })

  test('two instances do not share a connection', async () => {
    await open({ proxy: at.sshd, instance: 1 })
    // Both have the same host key, as machines of one image do, which needs a confirmation.
    await expect(open({ proxy: at.sshd, instance: 2 })).rejects.toThrow()
    await at.ssh.knownHosts.accept(account, 2, at.sshd.fingerprint())
    await open({ proxy: at.sshd, instance: 2 })
    expect(at.sshd.connections()).toBe(2)
  })

  test('a cut connection ends its shell as ssh_closed at once', async () => {
    const shell = await open()
    await answerTo(shell, 'true')
    expect(at.sshd.dropConnections()).toBe(1)
    expect((await shell.ended)?.code).toBe('ssh_closed')
    shell.stream.write('into nothing\n')
    await drain(shell) // ends
    expect(await answerTo(await open(), 'echo back')).toBe('back')
  })

  test('dropping an instance ends its shells and forgets its host key', async () => {
    const shell = await open()
    await at.ssh.drop(account, 4711)
    expect(await shell.ended).toBeUndefined()
    expect(await at.ssh.knownHosts.known(account, 4711)).toBeUndefined()
    await expect.poll(() => at.sshd.connections()).toBe(0)
  })
})

/** Size and hash of all output after the word BEGIN. */
async function drain(shell: Shell): Promise<{ bytes: number; hash: string }> {
  const hash = createHash('sha256')
  let bytes = 0
  let begun = false
  let head = ''
  for await (const chunk of shell.stream) {
    let part: Buffer = chunk
    if (!begun) {
      head += part.toString('latin1')
      const at = head.indexOf('BEGIN')
      begun = at >= 0
      part = Buffer.from(begun ? head.slice(at + 'BEGIN'.length) : '', 'latin1')
    }
    bytes += part.length
    hash.update(part)
  }
  return { bytes, hash: hash.digest('hex') }
}
