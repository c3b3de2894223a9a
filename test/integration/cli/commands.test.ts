import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { chmod, copyFile, cp, mkdtemp, rm, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { at } from '#build/places.ts'
import { openCommandSocket } from '#start/command-socket.ts'
import { longestLine } from '#start/socket-lines.ts'
import { rentRunning } from '#test/berth/steps.ts'
import { type BerthUnderTest, createWorld } from '#test/berth/world.ts'
import { fileModes, lacks, root } from '#test/needs.ts'
import { openInside } from '../core/automation/inside.ts'
import { plainRun, startRun } from '../core/automation/run-steps.ts'
import { sshd } from '../ssh/own-root.ts'
import { begin, berthOn, ended, openSocket } from './cli.ts'

const nobody = 65_534

/** A connected Berth on its own simulator, where machines boot at once, with an open command socket. */
async function connected() {
  const world = await createWorld({ speed: 600 })
  onTestFinished(() => world.close())
  const under = await world.startConnected()
  const { home, happened } = await openSocket(world, under.berth)
  return { world, under, home, happened, berth: berthOn(home) }
}

const rentOne = async (under: BerthUnderTest) => (await rentRunning(under)).id

test('ps lists the instances as ids on each of twenty calls, as a table and as JSON', async () => {
  const { under, berth } = await connected()
  const id = await rentOne(under)
  await under.run('renameInstance', { instance: id, label: 'llama' })
  await under.until(() => under.account().instances[id]?.label === 'llama')
  for (let call = 0; call < 20; call += 1)
    expect(await berth('ps', '-q')).toMatchObject({ code: 0, out: `${id}\n` })
  const table = await berth('ps')
  expect(table.out).toMatch(new RegExp(`^ *ID  LABEL +STATE +GPU .*\n *${id}  llama  Running  1 × `))
  const { accounts, instances } = JSON.parse((await berth('ps', '--json')).out)
  expect(accounts).toMatchObject([{ connection: 'online', demo: false }])
  expect(instances).toMatchObject([
    { account: accounts[0].id, id, label: 'llama', state: 'running', interruptible: false },
  ])
  expect(instances[0].costPerHour).toBeGreaterThan(0)
  expect(instances[0].costPerHour).toBeLessThan(20)
})

test('without its key an account is shown as last known at once, which no script takes for the present', async () => {
  const world = await createWorld({ speed: 600 })
  onTestFinished(() => world.close())
  await (await world.startConnected()).close()
  world.keychain.entries.clear()
  const { berth: locked } = await world.start()
  const { home } = await openSocket(world, locked)
  const berth = berthOn(home)
  for (const words of [['ps'], ['ps', '--json'], ['spend']])
    expect(await berth(...words)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/: last known state\. .*key/),
    })
})

test('stop, limit, start and, only with --yes, destroy take an id or a label and set the exit code', async () => {
  const { under, berth } = await connected()
  const id = await rentOne(under)
  await under.run('renameInstance', { instance: id, label: 'llama' })
  await under.until(() => under.account().instances[id]?.label === 'llama')
  expect(await berth('stop', 'llama')).toEqual({ code: 0, out: `Stopped llama #${id}\n`, err: '' })
  await under.until(() => under.account().instances[id]?.state === 'stopped')
  const unwatched = await berth('limit', String(id), 'stop', '8h', '--asleep')
  expect(unwatched).toMatchObject({ code: 0, err: expect.stringContaining('Its watchdog isn’t there yet') })
  const listed = JSON.parse((await berth('limit', String(id), '--json')).out)
  expect(listed).toMatchObject({ limits: [{ action: 'stop', watched: false }] })
  const started = await berth('start', String(id), '--json')
  expect(JSON.parse(started.out)).toEqual({ instances: [{ account: under.account().id, id }] })
  await under.until(() => under.account().instances[id]?.state !== 'stopped')

  const refused = await berth('destroy', String(id), '--json')
  expect(refused).toMatchObject({ code: 4, out: '' })
  expect(JSON.parse(refused.err)).toMatchObject({
    error: { code: 'needs_yes', advice: expect.stringContaining('--yes') },
  })
  expect(under.account().instances[id]).toBeDefined()
  expect(await berth('destroy', String(id), '--yes')).toMatchObject({ code: 0 })
  await under.until(() => under.account().instances[id] === undefined)

  expect(await berth('stop', '99')).toMatchObject({ code: 5, err: expect.stringContaining('id or label 99') })
  expect(await berth('stop', '99', '--account', 'Nobody')).toMatchObject({ code: 5 })
  expect(await berth('stop')).toMatchObject({ code: 2, err: expect.stringContaining('INSTANCE') })
  expect(await berth('stop', '1', '--colour')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--colour'),
  })
  expect(await berth('ps', '--yes')).toMatchObject({ code: 2, err: expect.stringContaining('--yes') })
  expect(await berth('prune')).toMatchObject({ code: 2, err: expect.stringContaining('prune') })
  expect(await berth('--help')).toMatchObject({ code: 0, out: expect.stringContaining('berth COMMAND') })
})

test('spend reports no more than Berth has counted', async () => {
  const { world, under, berth } = await connected()
  await rentOne(under)
  await world.sim.controls.advance(3600)
  await under.run('refresh', {})
  const days = async () => (await under.run('moneyHistory', { from: 0, samples: 1, days: 31 })).days
  await expect.poll(async () => (await days()).at(-1)?.spent).toBeGreaterThan(0)
  const { accounts } = JSON.parse((await berth('spend', '--json')).out)
  const counted = (await days()).reduce((sum, { spent }) => sum + spent, 0) / 1e6
  const told = accounts[0].days.reduce((sum: number, { spent }: { spent: number }) => sum + spent, 0)
  expect(told).toBeGreaterThan(0)
  expect(told).toBeLessThanOrEqual(counted)
  expect(accounts[0].today).toBeGreaterThan(0)
  expect((await berth('spend')).out).toMatch(/Credit +\$\d+\.\d\d\nPer hour +\$/)
})

const noSsh = lacks('ssh')
test.skipIf(noSsh)(`the system’s ssh gets in, and its exit code is the command’s${noSsh}`, async () => {
  const { world, under, berth, home } = await connected()
  const id = String(await rentOne(under))
  // ssh finds its configuration by HOME.
  const options = { env: { ...process.env, HOME: world.platform.home } }
  expect(await berthOn(home, options)('ssh', id, '--', 'echo', 'inside')).toMatchObject({
    code: 0,
    out: 'inside\n',
  })
  expect(await berth('ssh', id, '--', 'exit 7')).toMatchObject({ code: 7 })
  const plain = JSON.parse((await berth('ssh', id, '--json')).out)
  expect(plain.arguments[0]).toBe('ssh')
  expect(plain.arguments.at(-1)).toMatch(/^root@/)
  const noted = Object.values(under.berth.state().activity).filter(({ text }) =>
    / ssh on | SSH address of /.test(text),
  )
  expect(noted.map(({ text }) => text.replace(/ (on|of) .*/, ' $1'))).toEqual([
    'Opened ssh on',
    'Opened ssh on',
    'Gave a command the SSH address of',
  ])
  await under.run('changeSettings', { settings: { sshConfig: true } })
  const byHost = JSON.parse((await berth('ssh', id, '--json')).out)
  expect(byHost).toEqual({ arguments: ['ssh', `berth-${id}`] })
})

const lacking = lacks(sshd, 'curl')
test.skipIf(lacking)(`a run’s output is printed whole, and followed to its end${lacking}`, async () => {
  const { world, under, instance, home: inside } = await openInside()
  const { home } = await openSocket(world, under.berth)
  const enough = join(inside, 'enough')
  const command = `echo 'ünïcode begins'\nwhile [ ! -e ${enough} ]; do sleep 0.05; done\nprintf '10%%\\r20%%\\r'; echo done\nexit 3`
  const id = await startRun(under, { ...plainRun, instance, command })
  const following = begin(home, ['logs', '-f', id])
  let followed = ''
  following.stdout?.on('data', chunk => {
    followed += chunk
  })
  const end = ended(following)
  await expect.poll(() => followed).toBe('ünïcode begins\n')
  writeFileSync(enough, '')
  expect(await end).toMatchObject({ code: 0, out: expect.stringMatching(/^ünïcode begins\n[^\n]*done\n$/) })
  const berth = berthOn(home)
  expect((await berth('logs', String(instance))).out).toMatch(/^ünïcode begins\n[^\n]*done\n$/)
  expect(JSON.parse((await berth('logs', id, '--json')).out)).toMatchObject({ run: id, exitCode: 3 })
  expect(await berth('logs', 'x0000000000000000')).toMatchObject({ code: 5 })
})

test('open shows the page; quit ends Berth and says which instances keep costing money', async () => {
  const { under, berth, happened } = await connected()
  const instance = await rentOne(under)
  const when = { kind: 'duration', seconds: 8 * 3600 } as const
  await under.run('setLimit', { instance, when, action: 'stop', warning: 0, missed: 'act' })
  expect(await berth('open')).toMatchObject({ code: 0 })
  expect(JSON.parse((await berth('open', '--json')).out)).toEqual({ opened: true })
  expect(await berth('quit')).toMatchObject({
    code: 0,
    err: expect.stringMatching(
      /^1 instance keeps costing \$.*: .+\.\n1 limit is set and can’t act while Berth is not running\.\n$/,
    ),
  })
  expect(happened).toEqual(['page opened', 'page opened', 'quit'])
})

test('quit wants --yes while a page has unsaved changes', async () => {
  const { under, berth, happened } = await connected()
  const page = under.berth.connectPage(() => true)
  const args = { focused: true, screen: 'templates', unsaved: true }
  page.receive({ kind: 'command', call: 1, name: 'reportPlace', args })
  await expect.poll(() => under.berth.state().app.unsaved).toBe(true)
  expect(await berth('quit')).toEqual({
    code: 4,
    out: '',
    err: 'Unsaved changes on a page would be lost. Save them, or confirm with --yes.\n',
  })
  expect(happened).toEqual([])
  expect(await berth('quit', '--yes')).toMatchObject({ code: 0 })
  expect(happened).toEqual(['quit'])
})

test('garbage, endless lines and clients that don’t read do no harm', async () => {
  const { under, home, berth } = await connected()
  const path = join(home, 'berth.sock')
  const say = async (text: string | Buffer) => {
    const client = connect(path)
    let heard = ''
    client.on('data', chunk => {
      heard += chunk
    })
    client.on('error', () => undefined)
    client.write(text)
    await new Promise(resolve => client.once('close', resolve))
    return heard
  }
  expect(JSON.parse(await say('GET / HTTP/1.1\r\n\r\n'))).toMatchObject({
    kind: 'refusal',
    problem: { code: 'bad_message' },
  })
  expect(await say('[1, 2\n')).toContain('bad_message')
  expect(await say('null\n')).toContain('bad_message')
  expect(await say(Buffer.alloc(longestLine + 1, 'a'))).toContain(`${longestLine} bytes`)

  // Half a line, then nothing; and messages whose answers nobody reads.
  const half = connect(path)
  half.write('{"kind":"comm')
  const deaf = connect(path)
  deaf.pause()
  deaf.on('error', () => undefined)
  const closed = new Promise(resolve => deaf.once('close', resolve))
  for (let ask = 0; ask < 50; ask += 1) deaf.write('{"kind":"sync"}\n')
  onTestFinished(() => void half.destroy())
  expect(await berth('ps')).toMatchObject({ code: 0 })
  deaf.destroy()
  await closed

  // Commands are checked as a page's are, and so is the shape of local requests.
  const client = connect(path)
  onTestFinished(() => void client.destroy())
  const answers: unknown[] = []
  let rest = ''
  client.on('data', chunk => {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    answers.push(...lines.map(line => JSON.parse(line)))
  })
  const ask = (call: number, name: string, args: unknown) =>
    client.write(`${JSON.stringify({ kind: 'command', call, name, args })}\n`)
  ask(1, 'stopInstance', { instance: 'all' })
  ask(2, 'sshArguments', { instance: 1, program: 'sh' })
  ask(3, 'toString', {})
  ask(4, 'quit', { now: true })
  await expect.poll(() => answers.length).toBe(4)
  const refused = { code: expect.stringMatching(/^(invalid_argument|unknown_command)$/) }
  for (const answer of answers) expect(answer).toMatchObject({ kind: 'refusal', problem: refused })
  expect(under.account().connection.status).toBe('online')
})

test('folder and socket reject another user', async context => {
  if (lacks(root) !== '') return context.skip(lacks(root))
  const { world, home } = await connected()
  const others = await mkdtemp(join(tmpdir(), 'berth-cli-'))
  onTestFinished(() => rm(others, { recursive: true, force: true }))
  const program = join(others, 'cli.mjs')
  await copyFile(at('dist/main/cli.js'), program)
  await cp(at('dist/main/cli'), join(others, 'cli'), { recursive: true })
  await chmod(others, 0o755)
  await chmod(world.platform.home, 0o755)
  const asNobody = berthOn(home, { uid: nobody, gid: nobody, cwd: '/' }, program)
  expect(await asNobody('ps')).toEqual({
    code: 4,
    out: '',
    err: expect.stringContaining('belongs to another user'),
  })
  // The socket's own mode keeps them out, too.
  await chmod(home, 0o755)
  expect(await asNobody('ps')).toMatchObject({ code: 4, out: '' })
  await chmod(join(home, 'berth.sock'), 0o666)
  expect(await asNobody('ps')).toMatchObject({ code: 0 })
})

test.skipIf(lacks(fileModes))('the socket is private to the user and deleted on quit', async () => {
  const world = await createWorld()
  onTestFinished(() => world.close())
  const under = await world.start()
  const close = await openCommandSocket({
    home: join(world.platform.home, 'berth'),
    berth: under.berth,
    random: world.platform.random,
    log: () => undefined,
    openPage: () => undefined,
    quit: () => undefined,
  })
  const path = join(world.platform.home, 'berth', 'berth.sock')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  await close()
  expect(existsSync(path)).toBe(false)
})

test('bash completes subcommands, options and instances; zsh and fish scripts parse', async () => {
  const { under, home } = await connected()
  const id = await rentOne(under)
  const script = execFileSync(process.execPath, [at('dist/main/cli.js'), 'completion', 'bash'], {
    encoding: 'utf8',
  })
  const berth = `berth() { '${process.execPath}' '${at('dist/main/cli.js')}' "$@"; }`
  async function complete(...words: string[]): Promise<string[]> {
    const typed = words.map(word => `'${word}'`).join(' ')
    const call = `COMP_WORDS=(berth ${typed}); COMP_CWORD=${words.length}; _berth; echo "\${COMPREPLY[*]}"`
    const env = { ...process.env, BERTH_HOME: home }
    const { out } = await ended(spawn('bash', ['-c', [script, berth, call].join('\n')], { env }))
    return out.trim().split(' ')
  }
  expect(await complete('st')).toEqual(['start', 'stop'])
  expect(await complete('stop', '')).toContain(String(id))
  expect(await complete('logs', '--f')).toEqual(['--follow'])
  expect(await complete('completion', 'f')).toEqual(['fish'])
  for (const [shell, check] of [
    ['zsh', ['-n']],
    ['fish', ['--no-execute']],
  ] as const) {
    if (spawnSync(shell, ['--version']).error) continue
    const file = join(home, `completion.${shell}`)
    writeFileSync(file, execFileSync(process.execPath, [at('dist/main/cli.js'), 'completion', shell]))
    expect(spawnSync(shell, [...check, file]).status).toBe(0)
  }
})

test('destroy tries every instance, names each failure, and waits until the destroy is seen', async () => {
  const { world, under, berth } = await connected()
  const [first, second] = [await rentOne(under), await rentOne(under)]
  const path = `/instances/${first}/$`
  // Accepted and not carried out, refused, and not found.
  world.sim.controls.setFaults([
    { method: 'DELETE', path, kind: 'status', status: 500, times: 1 },
    { method: 'DELETE', path, kind: 'status', status: 404, times: 1 },
  ])
  const { code, out, err } = await berth('destroy', '99', String(first), String(second), '--yes')
  expect(code).toBe(1)
  expect(out.split('\n').sort()).toEqual([
    '',
    expect.stringContaining(`#${first}`),
    expect.stringContaining(`#${second}`),
  ])
  expect(err).toContain('99: No instance has the id or label 99.')
  await under.run('refresh', {})
  expect(under.account().instances).toEqual({})
})

test('--describe tells a program of every command, its answers and exit codes, without Berth', async () => {
  const called = await ended(begin('/nowhere', ['--describe']))
  expect(called).toMatchObject({ code: 0, err: '' })
  const { commands, exitCodes } = JSON.parse(called.out)
  const help = (await ended(begin('/nowhere', ['--help']))).out
  for (const { name, options, answers } of commands) {
    expect(help).toContain(`\n  ${name} `)
    const hasJson = options.some((option: { name: string }) => option.name === '--json')
    expect(answers.length > 0, name).toBe(hasJson)
  }
  expect(exitCodes.map(({ code }: { code: number }) => code)).toEqual([0, 1, 2, 3, 4, 5, 6, 77])
  expect(await ended(begin('/nowhere', ['ps', '--describe']))).toMatchObject({ code: 2 })
})
