import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createSsh, type Ssh } from '../../../electron/ssh/connection/connections.ts'
import { openAgent } from '../../../electron/ssh/keys/agent.ts'
import { openPassphrases } from '../../../electron/ssh/keys/passphrases.ts'
import { testKeychain } from '../core/world.ts'
import { type ScratchMachine, scratchMachine } from './machine.ts'
import { hasSshd, type Sshd, startSshd } from './sshd.ts'
import { account, answerTo, problemOf, target } from './steps.ts'

describe.skipIf(!hasSshd)('SSH keys at a real OpenSSH server', () => {
  let sshd: Sshd
  let machine: ScratchMachine
  let keychain: ReturnType<typeof testKeychain>
  const open: Ssh[] = []
  const agents: ChildProcess[] = []

  beforeAll(async () => {
    sshd = await startSshd()
  })
  afterAll(() => sshd?.close())
  beforeEach(() => {
    machine = scratchMachine()
    keychain = testKeychain()
  })
  afterEach(async () => {
    for (const ssh of open.splice(0)) await ssh.close()
    for (const agent of agents.splice(0)) agent.kill()
    machine.remove()
  })

  /** Berth's ssh after a start, with empty memory. */
  function start(agent?: string): Ssh {
    const ssh = createSsh({ ...machine, passphrases: openPassphrases(keychain), agent: openAgent(agent) })
    open.push(ssh)
    return ssh
  }
  function make(name: string, passphrase = '', type = 'ed25519'): string {
    const path = join(machine.home, '.ssh', name)
    execFileSync('ssh-keygen', ['-q', '-t', type, '-N', passphrase, '-C', name, '-f', path])
    return path
  }
  const publicOf = (path: string) => readFileSync(`${path}.pub`, 'utf8').trim()
  const getIn = async (ssh: Ssh, keyName: string) =>
    answerTo(await ssh.openShell(target({ proxy: sshd, keyName })), 'echo in')

  test('a passphrase unlocks a key for this session, or for good if kept in the keychain', async () => {
    sshd.authorize(publicOf(make('mine', 'open sesame')))
    const ssh = start()
    const locked = await problemOf(getIn(ssh, 'mine'))
    expect(locked).toMatchObject({ code: 'key_locked', field: 'passphrase', facts: { key: 'mine' } })
    const wrong = await problemOf(ssh.keysOf(account).unlock('mine', 'open barley', false))
    expect(wrong).toMatchObject({ code: 'wrong_passphrase', field: 'passphrase' })
    await ssh.keysOf(account).unlock('mine', 'open sesame', false)
    expect(await getIn(ssh, 'mine')).toBe('in')
    expect(keychain.entries.size).toBe(0)

    const later = start()
    expect((await problemOf(getIn(later, 'mine'))).code).toBe('key_locked')
    await later.keysOf(account).unlock('mine', 'open sesame', true)
    expect([...keychain.entries.values()]).toEqual(['open sesame'])
    expect(await getIn(start(), 'mine')).toBe('in')
    expect((await start().keysOf(account).list()).find(({ name }) => name === 'mine')).toMatchObject({
      needsPassphrase: true,
      unlocked: true,
    })
    await later.keysOf(account).lock('mine')
    expect((await problemOf(getIn(start(), 'mine'))).code).toBe('key_locked')
  })

  test('the agent’s keys work, all or a chosen one, also for the system’s ssh', async () => {
    const socket = join(machine.home, 'agent')
    agents.push(spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' }))
    await expect.poll(() => statSync(socket, { throwIfNoEntry: false })?.isSocket()).toBe(true)
    const [other, right] = [make('other'), make('right', '', 'ecdsa')]
    for (const key of [other, right])
      execFileSync('ssh-add', ['-q', key], {
        env: { ...process.env, SSH_AUTH_SOCK: socket },
        stdio: 'ignore',
      })
    sshd.authorize(publicOf(right))
    const ssh = start(socket)
    const names = (await ssh.keysOf(account).list())
      .filter(({ from }) => from === 'agent')
      .map(({ name }) => name)
    expect(names).toEqual([
      'agent',
      expect.stringMatching(/^agent\/SHA256:/),
      expect.stringMatching(/^agent\/SHA256:/),
    ])
    expect(await getIn(ssh, 'agent')).toBe('in')
    expect((await problemOf(getIn(ssh, names[1] ?? ''))).code).toBe('key_refused')
    expect(await getIn(ssh, names[2] ?? '')).toBe('in')

    const command = await ssh.command(target({ proxy: sshd, keyName: names[2] ?? '' }), sshd)
    const [program = '', ...args] = [...command, 'echo by stock ssh']
    const said = execFileSync(program, ['-o', 'BatchMode=yes', ...args], {
      encoding: 'utf8',
      env: { ...process.env, SSH_AUTH_SOCK: socket },
    })
    expect(said).toBe('by stock ssh\n')

    for (const agent of agents.splice(0)) agent.kill()
    await expect
      .poll(async () => (await ssh.keysOf(account).list()).some(({ from }) => from === 'agent'))
      .toBe(false)
    expect((await problemOf(getIn(ssh, 'agent'))).code).toBe('key_missing')
  })

  test('only generated keys are removed, with both files', async () => {
    make('mine')
    const ssh = start()
    const name = await ssh.keysOf(account).generate('spare')
    const names = async () => (await ssh.keysOf(account).list()).map(key => key.name)
    expect(await names()).toEqual(['berth', 'berth/spare', 'mine'])
    for (const kept of ['berth', 'mine', 'agent'])
      expect((await problemOf(ssh.keysOf(account).remove(kept))).code).toBe('key_not_removable')
    expect((await problemOf(ssh.keysOf(account).remove('berth/../known_hosts'))).code).toBe('key_missing')
    await ssh.keysOf(account).remove(name)
    expect(await names()).toEqual(['berth', 'mine'])
    expect(readdirSync(machine.files.path('keys'))).toEqual([])
    expect((await problemOf(ssh.keysOf(account).remove(name))).code).toBe('key_missing')
  })

  test('an imported key works and is readable only by the user; other text is refused', async () => {
    const path = make('elsewhere', 'words')
    const text = readFileSync(path, 'utf8')
    const ssh = start()
    expect((await problemOf(ssh.keysOf(account).import('work', 'ssh-ed25519 AAAA', undefined))).code).toBe(
      'not_a_key',
    )
    expect((await problemOf(ssh.keysOf(account).import('work', text))).code).toBe('key_locked')
    expect((await problemOf(ssh.keysOf(account).import('work', text, 'word'))).code).toBe('wrong_passphrase')
    expect(await ssh.keysOf(account).import('work', text, 'words')).toBe('berth/work')
    expect((await problemOf(ssh.keysOf(account).import('work', text, 'words'))).code).toBe('key_exists')
    expect(statSync(machine.files.path('keys/work')).mode & 0o777).toBe(0o600)
    expect(readFileSync(machine.files.path('keys/work'), 'utf8')).toContain('BEGIN OPENSSH PRIVATE KEY')
    sshd.authorize(publicOf(path))
    expect(await getIn(ssh, 'berth/work')).toBe('in')
    expect((await problemOf(getIn(start(), 'berth/work'))).code).toBe('key_locked')
  })

  test('another key is generated beside the first, and names cannot leave the folder', async () => {
    const ssh = start()
    expect(await ssh.keysOf(account).generate('spare')).toBe('berth/spare')
    sshd.authorize((await ssh.keysOf(account).locate('berth/spare')).publicKey)
    expect(await getIn(ssh, 'berth/spare')).toBe('in')
    expect((await ssh.keysOf(account).list()).map(({ name }) => name)).toEqual(['berth', 'berth/spare'])
    for (const name of ['berth/../spare', '../.ssh/x', 'berth/nothing'])
      expect((await problemOf(ssh.keysOf(account).load(name))).code).toBe('key_missing')
    await ssh.drop(account, 4711)
  })
})
