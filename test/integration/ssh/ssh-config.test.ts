import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { configText } from '#ssh/config-text.ts'
import { createSsh } from '#ssh/connection/connections.ts'
import { editInPlace, userConfig } from '#ssh/user-config.ts'
import { codeOf, problemOf } from '#test/berth/steps.ts'
import { lacks, root } from '../../needs.ts'
import { type ScratchMachine, scratchMachine } from './machine.ts'
import { noSshd } from './own-root.ts'
import { freePort, type Sshd, startSshd } from './sshd.ts'
import { account, looseConfig, strictOptions } from './steps.ts'

const run = promisify(execFile)
let machine: ScratchMachine
let config: string
let included: string
beforeEach(() => {
  machine = scratchMachine() // with a space in the path of Berth's files
  config = join(machine.home, '.ssh', 'config')
  included = machine.files.path('ssh/config')
})
afterEach(() => machine.remove())

describe('the user’s own SSH config', () => {
  const user = () => userConfig(machine.home)
  const line = () => `Include "${included}"`

  test.each([
    ['an ordinary one', 'Host work\n  User me\n'],
    ['one without a final newline', 'Host work\n  User me'],
    ['an empty one', ''],
    ['one with Windows line ends', 'Host work\r\n  User me\r\n'],
    ['one that is not UTF-8', Buffer.from([0x23, 0xff, 0xfe, 0x80, 0x0a, 0x41])],
    ['one that begins with an empty line', '\n\nHost *\n'],
  ])('%s gets one line at its top, and is restored to the byte afterwards', async (_, before) => {
    writeFileSync(config, before, { mode: 0o640 })
    chmodSync(config, 0o640)
    const made = await user().include(included)
    expect(readFileSync(config)).toEqual(Buffer.concat([Buffer.from(`${line()}\n`), Buffer.from(before)]))
    expect(statSync(config).mode & 0o777).toBe(0o640)
    await user().include(included)
    expect(readFileSync(config, 'latin1').split(line())).toHaveLength(2)
    await user().exclude(included, made)
    expect(readFileSync(config)).toEqual(Buffer.from(before))
    expect(statSync(config).mode & 0o777).toBe(0o640)
    expect(readdirSync(join(machine.home, '.ssh'))).toEqual(['config'])
  })

  test('a missing config and folder are created, and deleted again afterwards', async () => {
    rmSync(join(machine.home, '.ssh'), { recursive: true })
    const made = await user().include(included)
    expect(readFileSync(config, 'utf8')).toBe(`${line()}\n`)
    expect(statSync(config).mode & 0o777).toBe(0o600)
    expect(statSync(join(machine.home, '.ssh')).mode & 0o777).toBe(0o700)
    await user().exclude(included, made)
    expect(existsSync(join(machine.home, '.ssh'))).toBe(false)
  })

  test('a symbolic link stays a link, and its target is edited', async () => {
    const dotfiles = join(machine.home, 'dotfiles')
    mkdirSync(dotfiles)
    writeFileSync(join(dotfiles, 'ssh_config'), 'Host work\n')
    symlinkSync('../dotfiles/ssh_config', config)
    const made = await user().include(included)
    expect(lstatSync(config).isSymbolicLink()).toBe(true)
    expect(readFileSync(join(dotfiles, 'ssh_config'), 'utf8')).toBe(`${line()}\nHost work\n`)
    await user().exclude(included, made)
    expect(lstatSync(config).isSymbolicLink()).toBe(true)
    expect(readFileSync(config, 'utf8')).toBe('Host work\n')
    expect(readdirSync(dotfiles)).toEqual(['ssh_config'])
  })

  test('links are followed as the system does, also upwards from a linked folder', async () => {
    const shared = join(machine.home, 'dotfiles', 'nested', 'shared')
    const folder = join(machine.home, 'dotfiles', 'nested', 'ssh')
    mkdirSync(shared, { recursive: true })
    rmSync(join(machine.home, '.ssh'), { recursive: true })
    mkdirSync(folder, { mode: 0o700 })
    symlinkSync('dotfiles/nested/ssh', join(machine.home, '.ssh'))
    symlinkSync('../shared/config', join(folder, 'config'))
    writeFileSync(join(shared, 'config'), 'Host work\n')
    const made = await user().include(included)
    expect(await user().includes(included)).toBe(true)
    expect(readFileSync(join(shared, 'config'), 'utf8')).toBe(`${line()}\nHost work\n`)
    await user().exclude(included, made)
    expect(readFileSync(config, 'utf8')).toBe('Host work\n')
    expect(readdirSync(machine.home).sort()).toEqual(['.ssh', 'dotfiles'])

    // The target of a link may itself contain a link.
    rmSync(join(folder, 'config'))
    symlinkSync('nested/shared', join(machine.home, 'dotfiles', 'way'))
    symlinkSync('../../way/../shared/later', join(folder, 'config'))
    await user().include(included)
    expect(readFileSync(join(shared, 'later'), 'utf8')).toBe(`${line()}\n`)
    expect(await user().includes(included)).toBe(true)
  })

  test.skipIf(lacks(root))(`the config keeps its owner and group${lacks(root)}`, async () => {
    writeFileSync(config, 'Host work\n')
    chownSync(config, 1234, 2345)
    await user().include(included)
    expect(statSync(config)).toMatchObject({ uid: 1234, gid: 2345 })
  })

  test('a folder that existed before stays when the config is deleted', async () => {
    const made = await user().include(included)
    await user().exclude(included, made)
    expect(readdirSync(join(machine.home, '.ssh'))).toEqual([])
  })

  test('a read-only config keeps its mode, and a dangling link gets its target created', async () => {
    writeFileSync(config, 'Host work\n')
    chmodSync(config, 0o400)
    const made = await user().include(included)
    expect(statSync(config).mode & 0o777).toBe(0o400)
    await user().exclude(included, made)
    expect(readFileSync(config, 'utf8')).toBe('Host work\n')
    expect(statSync(config).mode & 0o777).toBe(0o400)

    rmSync(config)
    mkdirSync(join(machine.home, 'dotfiles'))
    symlinkSync('../dotfiles/later', config)
    const madeThere = await user().include(included)
    expect(readFileSync(join(machine.home, 'dotfiles', 'later'), 'utf8')).toBe(`${line()}\n`)
    await user().exclude(included, madeThere)
    expect(lstatSync(config).isSymbolicLink()).toBe(true)
    expect(existsSync(config)).toBe(false)
  })

  test('text added around Berth’s line stays when that is removed', async () => {
    writeFileSync(config, 'Host work\n')
    const made = await user().include(included)
    const mine = ['# mine', 'Include work/*', '# Include "me too"', '']
    writeFileSync(config, `${mine.join('\n')}${readFileSync(config, 'utf8')}Host new\n  User x`)
    await user().exclude(included, made)
    expect(readFileSync(config, 'utf8')).toBe(`${mine.join('\n')}Host work\nHost new\n  User x`)
  })

  test('a change by another program during an edit is not lost', async () => {
    writeFileSync(config, 'first\n')
    let edits = 0
    await editInPlace(config, text => {
      // Another program saves between Berth's read and its write.
      if (++edits === 1) writeFileSync(config, 'second\n')
      return `line\n${text}`
    })
    expect(edits).toBe(2)
    expect(readFileSync(config, 'utf8')).toBe('line\nsecond\n')
    expect(readdirSync(join(machine.home, '.ssh'))).toEqual(['config'])
  })

  test('a change by another program during a deletion is not lost', async () => {
    writeFileSync(config, 'line\n')
    await editInPlace(config, text => {
      if (text === 'line\n') writeFileSync(config, 'mine\n')
      return text === 'line\n' ? undefined : text
    })
    expect(readFileSync(config, 'utf8')).toBe('mine\n')
  })

  test('a config that cannot be written is a problem that names the line to add', async () => {
    rmSync(join(machine.home, '.ssh'), { recursive: true })
    writeFileSync(join(machine.home, '.ssh'), 'no folder')
    const problem = await problemOf(user().include(included))
    expect(problem).toMatchObject({ code: 'ssh_config_not_written', facts: { line: line() } })
  })

  test('a path with characters special to ssh is refused', async () => {
    expect(await codeOf(user().include('/home/100%/config'))).toBe('ssh_config_path')
    expect(await codeOf(user().include('/home/x\nHost */config'))).toBe('ssh_config_path')
    expect(existsSync(config)).toBe(false)
  })
})

describe.skipIf(noSshd)(`the stock OpenSSH client with Berth’s included config${noSshd}`, () => {
  let sshd: Sshd
  beforeAll(async () => {
    sshd = await startSshd()
  })
  afterAll(() => sshd?.close())

  async function written(mine = 'Host berth-4711\n  Port 1\n  ForwardAgent yes\n'): Promise<void> {
    const ssh = createSsh(machine)
    const { publicKey, path: keyPath } = await ssh.keysOf(account).locate('berth')
    sshd.authorize(publicKey)
    const entry = { keyPath, knownHostsPath: ssh.knownHosts.path, account, address: sshd }
    await machine.files.write(
      'ssh/config',
      configText(
        [
          { ...entry, instance: 4711, label: 'llama finetune' },
          { ...entry, instance: 4712, label: 'x\n  ProxyCommand touch /tmp/never' },
        ],
        true,
      ),
    )
    writeFileSync(config, mine)
    await userConfig(machine.home).include(included)
  }
  const batch = () => ['-F', config, '-o', 'BatchMode=yes']

  test('connects by id and by label without a question, and forwards no agent', async () => {
    await written()
    await run('ssh', [...batch(), 'berth-4711', 'true'])
    const { stdout } = await run('ssh', [...batch(), 'berth-llama-finetune', 'echo in; env'])
    expect(stdout).toMatch(/^in\n/)
    expect(stdout).not.toContain('SSH_AUTH_SOCK')
    // Berth's options win over the user's for the same host.
    const { stdout: first } = await run('ssh', [...batch(), '-G', 'berth-4711'])
    expect(first).toMatch(/^forwardagent no$/m)
    expect(first).toMatch(/^forwardx11 no$/m)
    expect(first).toMatch(new RegExp(`^port ${sshd.port}$`, 'm'))
    const { stdout: meant } = await run('ssh', [...batch(), '-G', 'berth-4712'])
    expect(meant).toMatch(/^forwardagent no$/m)
    expect(meant).not.toMatch(/^proxycommand/m)
    expect(meant).toMatch(/^hostkeyalias berth-a00000001-4712$/m)
  })

  test('keeps Berth’s strict options against the user’s options for all hosts', async () => {
    await written(looseConfig)
    const { stdout } = await run('ssh', [...batch(), '-G', 'berth-4711'])
    expect(stdout.split('\n')).toEqual(expect.arrayContaining(strictOptions))
  })

  /** All that editors and tools do with a name of Berth's: commands, pipes, files, and their own forwards. */
  async function everyUse(): Promise<void> {
    const [local, remote] = [join(machine.home, 'sent'), join(sshd.folder, 'sent')]
    writeFileSync(local, 'hello')
    expect((await run('ssh', [...batch(), 'berth-4711', 'echo in'])).stdout).toBe('in\n')
    const piped = spawn('ssh', [...batch(), 'berth-4711', 'cat'], { stdio: ['pipe', 'pipe', 'ignore'] })
    piped.stdin.end('a\n')
    expect(await text(piped.stdout)).toBe('a\n')
    await run('scp', [...batch(), local, `berth-4711:${remote}`])
    await run('sftp', [...batch(), `berth-4711:${remote}`, `${local}-back`])
    expect(readFileSync(`${local}-back`, 'utf8')).toBe('hello')
    // VS Code comes with -D, and its own scripts on standard input.
    const port = await freePort()
    const editor = spawn('ssh', [...batch(), '-T', '-D', String(port), 'berth-4711', 'sh'], {
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    editor.stdin.write('echo ready\n')
    expect(String((await once(editor.stdout, 'data'))[0])).toBe('ready\n')
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.destroy()
    editor.stdin.end()
    await once(editor, 'exit')
  }

  // Each alone would change what happens, and none hides another of its group.
  test.each([
    [
      'a command in a terminal, behind a proxy',
      ['RemoteCommand tmux new', 'RequestTTY force', 'ProxyCommand false'],
    ],
    ['a terminal and no forwards', ['RequestTTY force', 'ClearAllForwardings yes']],
    ['no session', ['SessionType none']],
    ['no input, and a command here', ['StdinNull yes', 'PermitLocalCommand yes', 'LocalCommand echo bent']],
    ['the background', ['ForkAfterAuthentication yes']],
    [
      'another way to the server',
      ['ProxyJump bastion', 'AddressFamily inet6', 'BindInterface none0', 'BindAddress 192.0.2.1'],
    ],
    [
      'other keys',
      [
        'PubkeyAuthentication no',
        'PreferredAuthentications password',
        'HostKeyAlgorithms ssh-rsa',
        'PubkeyAcceptedAlgorithms ssh-rsa',
        'KnownHostsCommand /bin/false',
      ],
    ],
  ])('lands as Berth does where the user set %s for all hosts', async (_, options) => {
    await written(`Host *\n${options.map(option => `  ${option}\n`).join('')}`)
    await everyUse()
  })

  test('the user’s forward for all hosts doesn’t block connections', async () => {
    const busy = createServer().listen(0, '127.0.0.1')
    await once(busy, 'listening')
    const address = busy.address()
    const port = typeof address === 'object' ? address?.port : undefined
    await written(`Host *\n  LocalForward 127.0.0.1:${port} localhost:8888\n  ExitOnForwardFailure yes\n`)
    await everyUse()
    busy.close()
  })

  test.each(['%r@%h:%p', '%C'])(
    'an open connection that is shared as %s is no way to the next instance there',
    async name => {
      const second = await startSshd(['SetEnv WHO=two'])
      const first = await startSshd(['SetEnv WHO=one'])
      // As a provider's proxy: one address, behind which another instance answers later.
      let behind = first.port
      const proxy = createServer(socket => {
        const onward = connect(behind, '127.0.0.1')
        socket.pipe(onward).pipe(socket)
        for (const end of [socket, onward]) end.on('error', () => end.destroy())
      }).listen(0, '127.0.0.1')
      await once(proxy, 'listening')
      const listening = proxy.address()
      const port = typeof listening === 'object' ? (listening?.port ?? 0) : 0

      const ssh = createSsh(machine)
      const { publicKey, path: keyPath } = await ssh.keysOf(account).locate('berth')
      for (const server of [first, second]) server.authorize(publicKey)
      const entry = {
        keyPath,
        knownHostsPath: ssh.knownHosts.path,
        account,
        address: { host: '127.0.0.1', port },
      }
      await machine.files.write(
        'ssh/config',
        configText(
          [1, 2].map(instance => ({ ...entry, instance })),
          true,
        ),
      )
      const control = join(mkdtempSync(join(tmpdir(), 'cm-')), name)
      const shared = `ControlMaster auto\n  ControlPath ${control}\n  ControlPersist 60\n`
      writeFileSync(config, `Host *\n  ${shared}`)
      await userConfig(machine.home).include(included)
      const who = async (host: string) => (await run('ssh', [...batch(), host, 'echo $WHO'])).stdout
      // Its output would stay open as long as a connection that it leaves in the background.
      const held = spawn('ssh', [...batch(), 'berth-1', 'echo in; read wait'], {
        stdio: ['pipe', 'pipe', 'ignore'],
      })
      await once(held.stdout, 'data')
      expect(await who('berth-1')).toBe('one\n')
      behind = second.port
      expect(await who('berth-2')).toBe('two\n')
      expect(existsSync(dirname(control)) && readdirSync(dirname(control))).toEqual([])
      held.stdin.end()
      await once(held, 'exit')
      proxy.close()
      await Promise.all([first.close(), second.close()])
    },
  )

  test('an ssh older than an option still reads the file', () => {
    const entry = { keyPath: '/k', knownHostsPath: '/h', account, instance: 4711, address: sshd }
    expect(configText([entry], true)).toMatch(/SessionType default/)
    expect(configText([entry], false)).not.toMatch(/SessionType|StdinNull|ForkAfter|KnownHostsCommand/)
  })

  test('finds Berth’s config in a folder whose name is a pattern', async () => {
    await written()
    const odd = join(machine.home, 'odd [a-z]* ?x')
    mkdirSync(odd)
    writeFileSync(join(odd, 'config'), readFileSync(included))
    writeFileSync(config, '')
    await userConfig(machine.home).include(join(odd, 'config'))
    await run('ssh', [...batch(), 'berth-4711', 'true'])
  })

  test('never sees a malformed host, which Berth refuses to write', () => {
    const entry = { keyPath: '/k', knownHostsPath: '/h', account, instance: 4711 }
    for (const host of ['-oProxyCommand=id', 'a\n  ProxyCommand id'])
      expect(() => configText([{ ...entry, address: { host, port: 22 } }], true)).toThrow(/ssh_host/)
  })

  test('refuses a changed host key', async () => {
    await written()
    await run('ssh', [...batch(), 'berth-4711', 'true'])
    await sshd.changeHostKey()
    await expect(run('ssh', [...batch(), 'berth-4711', 'true'])).rejects.toThrow(/IDENTIFICATION HAS CHANGED/)
  })
})
