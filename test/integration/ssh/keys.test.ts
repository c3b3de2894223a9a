import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createSsh, type Ssh } from '#ssh/connection/connections.ts'
import { openAgent } from '#ssh/keys/agent.ts'
import { openPassphrases } from '#ssh/keys/keys.ts'
import { testKeychain } from '#test/berth/machine.ts'
import { codeOf, problemOf } from '#test/berth/steps.ts'
import { type ScratchMachine, scratchMachine } from './machine.ts'
import { noSshd } from './own-root.ts'
import { type Sshd, startSshd } from './sshd.ts'
import { account, answerTo, target } from './steps.ts'

describe.skipIf(noSshd)(`SSH keys at a real OpenSSH server${noSshd}`, () => {
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
    // One round for the passphrase: more only take time.
    execFileSync('ssh-keygen', ['-q', '-t', type, '-a', '1', '-N', passphrase, '-C', name, '-f', path])
    return path
  }
  const publicOf = (path: string) => readFileSync(`${path}.pub`, 'utf8').trim()
  const getIn = async (ssh: Ssh, keyName: string) =>
    answerTo(await ssh.openShell(target({ proxy: sshd, keyName })), 'echo in')

  test('a passphrase unlocks a key for this session, or always if in the keychain', async () => {
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
    expect(await codeOf(getIn(later, 'mine'))).toBe('key_locked')
    await later.keysOf(account).unlock('mine', 'open sesame', true)
    expect([...keychain.entries.values()]).toEqual(['open sesame'])
    expect(await getIn(start(), 'mine')).toBe('in')
    expect((await start().keysOf(account).list()).find(({ name }) => name === 'mine')).toMatchObject({
      needsPassphrase: true,
      unlocked: true,
    })
    await later.keysOf(account).lock('mine')
    expect(await codeOf(getIn(start(), 'mine'))).toBe('key_locked')
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
    expect(await codeOf(getIn(ssh, names[1] ?? ''))).toBe('key_refused')
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
    expect(await codeOf(getIn(ssh, 'agent'))).toBe('key_missing')
  })

  test('only generated keys are removed, with both files', async () => {
    make('mine')
    const ssh = start()
    const name = await ssh.keysOf(account).generate('spare')
    const names = async () => (await ssh.keysOf(account).list()).map(key => key.name)
    expect(await names()).toEqual(['berth', 'berth/spare', 'mine'])
    for (const kept of ['berth', 'mine', 'agent'])
      expect(await codeOf(ssh.keysOf(account).remove(kept))).toBe('key_not_removable')
    expect(await codeOf(ssh.keysOf(account).remove('berth/../known_hosts'))).toBe('key_missing')
    await ssh.keysOf(account).remove(name)
    expect(await names()).toEqual(['berth', 'mine'])
    expect(readdirSync(machine.files.path('keys'))).toEqual([])
    expect(await codeOf(ssh.keysOf(account).remove(name))).toBe('key_missing')
  })

  test('an imported key works and is readable only by the user; other text is refused', async () => {
    const path = make('elsewhere', 'words')
    const text = readFileSync(path, 'utf8')
    const ssh = start()
    expect(await codeOf(ssh.keysOf(account).import('work', 'ssh-ed25519 AAAA', undefined))).toBe('not_a_key')
    expect(await codeOf(ssh.keysOf(account).import('work', text))).toBe('key_locked')
    expect(await codeOf(ssh.keysOf(account).import('work', text, 'word'))).toBe('wrong_passphrase')
    expect(await ssh.keysOf(account).import('work', text, 'words')).toBe('berth/work')
    expect(await codeOf(ssh.keysOf(account).import('work', text, 'words'))).toBe('key_exists')
    expect(statSync(machine.files.path('keys/work')).mode & 0o777).toBe(0o600)
    expect(readFileSync(machine.files.path('keys/work'), 'utf8')).toContain('BEGIN OPENSSH PRIVATE KEY')
    sshd.authorize(publicOf(path))
    expect(await getIn(ssh, 'berth/work')).toBe('in')
    expect(await codeOf(getIn(start(), 'berth/work'))).toBe('key_locked')
  })

  /** A key that OpenSSL makes, as cloud consoles do: its text, and its public half by ssh-keygen. */
  function byOpenssl(command: string, passphrase = ''): { text: string; publicKey: string } {
    const text = execFileSync('sh', ['-c', command], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const path = join(machine.home, 'made')
    writeFileSync(path, text, { mode: 0o600 })
    const read = () => execFileSync('ssh-keygen', ['-y', '-P', passphrase, '-f', path], { encoding: 'utf8' })
    return { text, publicKey: read().trim() }
  }
  const pkcs8 = 'openssl pkcs8 -topk8'
  const withPassphrase = `${pkcs8} -passout pass:words`

  test.each([
    ['RSA in PKCS#8', `openssl genrsa 3072 | ${pkcs8} -nocrypt`, ''],
    ['RSA in PKCS#8 with a passphrase', `openssl genrsa 3072 | ${withPassphrase}`, 'words'],
    ['EC in PKCS#8', 'openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-384', ''],
    [
      'EC in PKCS#8 with an older cipher',
      `openssl ecparam -name prime256v1 -genkey | ${withPassphrase} -v2 des3`,
      'words',
    ],
    ['EC after its parameters', 'openssl ecparam -name prime256v1 -genkey', ''],
    ['RSA in PEM', 'openssl genrsa -traditional 2048', ''],
  ])('%s is read as OpenSSH reads it: listed, imported and used', async (_, command, passphrase) => {
    const { text, publicKey } = byOpenssl(command, passphrase)
    const given = passphrase || undefined
    writeFileSync(join(machine.home, '.ssh', 'paired'), text, { mode: 0o600 })
    writeFileSync(join(machine.home, '.ssh', 'paired.pub'), `${publicKey}\n`)
    writeFileSync(join(machine.home, '.ssh', 'work.pem'), text.replaceAll('\n', '\r\n'), { mode: 0o600 })
    sshd.authorize(publicKey)
    const ssh = start()
    const keys = ssh.keysOf(account)
    if (given !== undefined) {
      expect(await codeOf(keys.import('mine', text))).toBe('key_locked')
      expect(await codeOf(keys.import('mine', text, 'word'))).toBe('wrong_passphrase')
      expect(await codeOf(getIn(ssh, 'paired'))).toBe('key_locked')
      await keys.unlock('paired', given, false)
    }
    expect(await keys.import('mine', `note\n${text}`, given)).toBe('berth/mine')
    expect(await getIn(ssh, 'berth/mine')).toBe('in')
    expect(await getIn(ssh, 'paired')).toBe('in')
    // Without its public half, a key in this format can only be listed where no passphrase hides that.
    const names = (await keys.list()).map(({ name }) => name)
    const lone = given === undefined ? ['work.pem'] : []
    expect(names).toEqual(['berth', 'berth/mine', 'paired', ...lone])
    for (const name of lone) expect(await getIn(ssh, name)).toBe('in')
    const [program = '', ...args] = await ssh.command(target({ proxy: sshd, keyName: 'berth/mine' }), sshd)
    if (given === undefined)
      expect(execFileSync(program, [...args, 'echo by stock ssh'], { encoding: 'utf8' })).toBe(
        'by stock ssh\n',
      )
  })

  test('a key without its public half beside it is listed and used, also with a passphrase', async () => {
    const path = make('work.pem', 'words')
    sshd.authorize(publicOf(path))
    rmSync(`${path}.pub`)
    for (const other of ['config', 'known_hosts'])
      writeFileSync(join(machine.home, '.ssh', other), 'Host *\n')
    const ssh = start()
    const listed = await ssh.keysOf(account).list()
    expect(listed.map(({ name, needsPassphrase }) => [name, needsPassphrase])).toEqual([
      ['berth', false],
      ['work.pem', true],
    ])
    await ssh.keysOf(account).unlock('work.pem', 'words', false)
    expect(await getIn(ssh, 'work.pem')).toBe('in')
  })

  test.each([
    ['openssl genpkey -algorithm ed25519', /Ed25519 key in PKCS#8/],
    ['openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:secp256k1', /curve secp256k1/],
    ['openssl genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048', /type rsa-pss/],
    ['openssl genrsa 2048 | openssl rsa -pubout', /public key/],
    ['openssl genrsa 2048 | head -n 5', /no private key/],
    ['openssl genrsa 2048 | sed 9d', /damaged/],
    ['printf "PuTTY-User-Key-File-3: ssh-ed25519\\n"', /PuTTY/],
    ['echo ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA me@here', /public key/],
    ['echo hello', /no private key/],
  ])('rejects input from %s with its reason', async (command, reason) => {
    const text = execFileSync('sh', ['-c', command], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const problem = await problemOf(start().keysOf(account).import('work', text))
    expect(problem).toMatchObject({ code: 'not_a_key', message: expect.stringMatching(reason) })
  })

  async function startAgent(): Promise<{ socket: string; add: (path: string) => void; clear: () => void }> {
    const socket = join(machine.home, 'agent')
    agents.push(spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' }))
    await expect.poll(() => statSync(socket, { throwIfNoEntry: false })?.isSocket()).toBe(true)
    const run = (...args: string[]) =>
      execFileSync('ssh-add', args, { env: { ...process.env, SSH_AUTH_SOCK: socket }, stdio: 'ignore' })
    return { socket, add: path => void run('-q', path), clear: () => void run('-D') }
  }

  test('the agent’s key that an instance has is found again behind more keys than a server takes', async () => {
    const { socket, add, clear } = await startAgent()
    const mine = make('mine')
    add(mine)
    const ssh = start(socket)
    sshd.authorize((await ssh.keysOf(account).locate('agent')).publicKey)
    expect(await getIn(ssh, 'agent')).toBe('in')
    await ssh.disconnect(account)

    clear()
    for (let n = 0; n < 8; n++) add(make(`other-${n}`))
    add(mine)
    expect(await getIn(ssh, 'agent')).toBe('in')
    expect((await ssh.keysOf(account).locate('agent')).publicKey).toBe(publicOf(mine))
  })

  test('a certificate in the agent doesn’t count as a key', async () => {
    const { socket, add } = await startAgent()
    const [authority, mine] = [make('authority'), make('mine')]
    execFileSync('ssh-keygen', ['-q', '-s', authority, '-I', 'me', '-n', 'root', `${mine}.pub`])
    add(mine) // with its certificate, as ssh-add does
    sshd.authorize(publicOf(mine))
    const ssh = start(socket)
    expect((await ssh.keysOf(account).list()).filter(({ from }) => from === 'agent')).toHaveLength(1)
    expect(await getIn(ssh, 'agent')).toBe('in')
  })

  test('an agent that takes its time is waited for', async () => {
    const { socket, add } = await startAgent()
    const mine = make('mine')
    add(mine)
    sshd.authorize(publicOf(mine))
    const slow = join(machine.home, 'slow-agent')
    const server = createServer(client => {
      const onward = connect(socket)
      for (const end of [client, onward]) end.on('error', () => end.destroy())
      client.pipe(onward)
      // An agent that asks its user before it lists its keys.
      setTimeout(() => onward.pipe(client), 3000)
    }).listen(slow)
    await once(server, 'listening')
    const ssh = start(slow)
    expect((await ssh.keysOf(account).list()).some(({ from }) => from === 'agent')).toBe(true)
    const entered = ssh.openShell(target({ proxy: sshd, keyName: 'agent', deadlineMs: 30_000 }))
    expect(await answerTo(await entered, 'echo in')).toBe('in')
    server.close()
  })

  test('another key is generated beside the first, and names cannot leave the folder', async () => {
    const ssh = start()
    expect(await ssh.keysOf(account).generate('spare')).toBe('berth/spare')
    sshd.authorize((await ssh.keysOf(account).locate('berth/spare')).publicKey)
    expect(await getIn(ssh, 'berth/spare')).toBe('in')
    expect((await ssh.keysOf(account).list()).map(({ name }) => name)).toEqual(['berth', 'berth/spare'])
    for (const name of ['berth/../spare', '../.ssh/x', 'berth/nothing'])
      expect(await codeOf(ssh.keysOf(account).load(name))).toBe('key_missing')
    await ssh.drop(account, 4711)
  })
})
