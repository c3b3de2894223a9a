import { existsSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { SimulatorOptions } from '#simulator/simulator.ts'
import { createWorld } from '#test/berth/world.ts'
import { openProject, write } from '../core/projects/place.ts'
import { noSshd } from '../ssh/own-root.ts'
import { begin, berthOn, ended, openSocket } from './cli.ts'

describe.skipIf(noSshd)(`a project from the command line${noSshd}`, () => {
  test('says that the credit doesn’t pay for it in its plan, and then rents only if told to', async () => {
    const { world, under, folder } = await openProject({
      'berth.yaml': 'run: echo done\nstop: { hours: 2 }\n',
    })
    const { home } = await openSocket(world, under.berth)
    const berth = berthOn(home, { cwd: folder })
    expect(JSON.parse((await berth('run', '--json')).out)).toMatchObject({ beyondCredit: null })
    for (const [credit, why] of [
      [0.01, /2 h cost \$.+, more than your \$0\.010?\. It would be cut off after/],
      [0, /Your credit is used up\./],
    ] as const) {
      world.sim.controls.setCredit(credit)
      await under.run('refresh', {})
      await under.until(() => (under.account().credit ?? 1) <= credit * 1_000_000)
      const plan = await berth('run')
      expect(plan.err).toMatch(why)
      expect(plan.err).toContain('Add --yes to run it, and with --allow credit.')
      expect(JSON.parse((await berth('run', '--json')).out).beyondCredit).toMatch(why)
      const refused = await berth('run', '--yes')
      expect(refused).toMatchObject({ code: 4, err: expect.stringContaining('--allow credit') })
      expect(refused.err).toMatch(why)
    }
    expect(Object.keys(under.account().runs)).toEqual([])
    expect(await berth('run', '--yes', '--allow', 'credit')).toMatchObject({ code: 0 })
    await under.until(() => Object.keys(under.account().runs).length === 1)
  })

  test('is added by its path, shows its cost, and runs with --yes until its results are home', async () => {
    const { world, under, folder } = await openProject({
      'berth.yaml':
        'name: sums\nrun: |\n  echo counting\n  expr 2 + 3 > sum.txt\nresults: sum.txt\nstop: { hours: 1 }\n',
      '.env': 'TOKEN=mine\n',
    })
    const { home } = await openSocket(world, under.berth)
    const berth = berthOn(home, { cwd: folder })
    // A plan that is not confirmed makes it no project, and neither does one with errors.
    for (const project of Object.keys(under.berth.state().projects))
      await under.run('removeProject', { project })
    expect(JSON.parse((await berth('run', '--json')).out)).toMatchObject({ project: null, files: 1 })
    write(folder, { 'other/berth.yaml': 'runn: true\n' })
    expect(await berth('run', 'other', '--yes')).toMatchObject({ code: 1 })
    expect(under.berth.state().projects).toEqual({})
    rmSync(join(folder, 'other'), { recursive: true })
    const added = JSON.parse((await berth('project', 'add', '.', '--json')).out)
    expect(added).toMatchObject({ project: { name: 'sums', usable: true, problems: [] } })
    const { id } = added.project
    expect((await berth('project', 'ls')).out).toMatch(new RegExp(`sums +.*digits +${id}\n$`))

    const asked = await berth('run')
    expect(asked).toMatchObject({ code: 4, out: '' })
    expect(asked.err).toMatch(
      /^1 × .*\$.*\/h\nIt costs at most \$.*: \$.* for 1 h at up to \$.*, plus up to \$1\.00 for failed attempts, and \$.* for 3 d of disk if it fails\.\nIt’s stopped after 1 h at the latest\./,
    )
    expect(asked.err).toContain('not .env, which may contain secrets')
    expect(asked.err).toContain('Command:\n  echo counting\n  expr 2 + 3 > sum.txt\n')
    const plan = JSON.parse((await berth('run', 'sums', '--json')).out)
    expect(plan).toMatchObject({ project: id, lastsAtMost: 3600, files: 1, notSent: ['.env'] })
    const [first, , other] = plan.offers
    expect(first).toMatchObject({ id: plan.offer, gpu: plan.gpu, pricePerHour: plan.pricePerHour })
    expect(asked.err).toContain(`Other matches, for --offer:\n  ${plan.offers[1].id}  `)
    const chosen = JSON.parse((await berth('run', 'sums', '--json', '--offer', `${other.id}`)).out)
    expect(chosen).toMatchObject({ offer: other.id, pricePerHour: other.pricePerHour })
    expect(await berth('run', 'sums', '--offer', 'best')).toMatchObject({ code: 2 })
    expect(await berth('run', 'sums', '--offer', '1')).toMatchObject({
      code: 1,
      err: expect.stringContaining('Offer 1 is gone'),
    })
    const unanswered = await berth('run', 'sums', '--yes')
    expect(unanswered).toMatchObject({ code: 4, err: expect.stringContaining('.env may contain secrets.') })
    expect(await berth('run', 'sums', '--yes', '--secret-files', 'all')).toMatchObject({ code: 2 })
    expect(Object.keys(under.account().runs)).toEqual([])

    const ran = await berth('run', id, '--yes', '-f', '--secret-files', 'skip', '--offer', `${other.id}`)
    expect(ran.err).toMatch(/Renting a machine\n(.*\n)*Running\n(.*\n)*Done\n1 file downloaded\. It cost \$/)
    expect(ran).toMatchObject({ code: 0, out: 'counting\n' })
    expect(readFileSync(join(folder, 'sum.txt'), 'utf8')).toBe('5\n')
    await under.until(() => Object.keys(under.account().instances).length === 0)
    const [job = ''] = Object.keys(under.account().runs)
    const asks = world.requests('PUT', 'asks')
    expect(asks.map(({ path }) => path)).toEqual([`/api/v0/asks/${other.id}/`])
    expect(await berth('logs', job)).toMatchObject({ code: 0, out: 'counting\n' })
    expect((await berth('run')).err).toContain(
      '1 downloaded result stays here and isn’t sent: a new run begins without it, unless .berthignore has !sum.txt.',
    )
  })

  test('is added by its path over the socket, never by a page', async () => {
    const { world, under, folder } = await openProject({ 'berth.yaml': 'run: exit 3\n' })
    const { home } = await openSocket(world, under.berth)
    const answers: unknown[] = []
    const page = under.berth.connectPage(message => answers.push(message) > 0)
    page.receive({ kind: 'command', call: 1, name: 'registerProject', args: { folder } })
    await expect
      .poll(() => answers)
      .toMatchObject([{ kind: 'refusal', problem: { code: 'unknown_command' } }])
    page.close()
    expect(await berthOn(home)('project', 'add', folder)).toMatchObject({ code: 0 })
  })

  test('says what a run waits for, in all listings and while it is followed', async () => {
    const { world, under, sshd, folder, project } = await openProject({
      'berth.yaml': 'run: |\n  until [ -e ../../go ]; do sleep 0.1; done\n  echo done\n',
    })
    const { home } = await openSocket(world, under.berth)
    const berth = berthOn(home, { cwd: folder })
    const followed = berth('run', '--yes', '-f')
    const runs = () => Object.values(under.account().runs)
    await under.until(() => runs().some(run => run.outputs.includes('command')))
    await sshd.stop()
    await under.until(() => runs()[0]?.waiting?.problem?.code.startsWith('ssh_') === true)
    const [{ id = '' } = {}] = runs()
    const words = /No output for .* Last error: /
    expect((await berth('ps')).err).toMatch(words)
    expect((await berth('ps', '--project', project)).out).toMatch(words)
    const json = {
      for: 'output',
      since: expect.any(String),
      lastError: { code: expect.stringMatching(/^ssh_/) },
    }
    expect(JSON.parse((await berth('ps', '--json')).out).waiting).toMatchObject([
      { run: id, step: 'running', ...json },
    ])
    const listed = JSON.parse((await berth('ps', '--json', '--project', project)).out)
    expect(listed.runs).toMatchObject([{ job: id, waiting: json }])
    await sshd.start()
    write(sshd.home, { go: '' })
    const { code, out, err } = await followed
    expect([code, out]).toEqual([0, 'done\n'])
    expect(err).toMatch(words)
  })

  test('says that a run goes on when Ctrl+C ends what follows it', async () => {
    const { world, under, folder } = await openProject({ 'berth.yaml': 'name: digits\nrun: sleep 600\n' })
    const { home } = await openSocket(world, under.berth)
    const child = begin(home, ['run', '--yes', '-f'], { cwd: folder })
    child.stderr?.on('data', chunk => {
      if (String(chunk).includes('Renting a machine')) child.kill('SIGINT')
    })
    expect(await ended(child)).toMatchObject({
      code: null,
      err: expect.stringMatching(/digits goes on and costs money/),
    })
    const [run] = Object.values(under.account().runs)
    expect(run).toMatchObject({ step: expect.not.stringMatching(/cancelled|failed/) })
    await under.run('cancelRun', { run: run?.id ?? '' })
  })

  test('exits with 6 or the higher code of its command, and with 1 when its file is wrong or its path is unknown', async () => {
    const { world, under, folder } = await openProject({
      'berth.yaml': 'run: cat .env; exit 3\n',
      '.env': 'TOKEN=mine\n',
    })
    const { home } = await openSocket(world, under.berth)
    const berth = berthOn(home, { cwd: folder })
    const ran = await berth('run', '--yes', '-f', '--json', '--secret-files', 'send')
    expect(ran).toMatchObject({ code: 6, err: '', out: expect.stringContaining('TOKEN=mine') })
    expect(JSON.parse(ran.out.trim().split('\n').at(-1) ?? '')).toMatchObject({
      step: 'failed',
      exitCode: 3,
      brought: 0,
    })
    const [job = ''] = Object.keys(under.account().runs)
    await under.run('cancelRun', { run: job })

    write(folder, { 'berth.yaml': 'run: "\\e[2Jrm -rf ~"\n' })
    expect((await berth('run')).err).toContain('\\u{1b}[2Jrm -rf ~')
    write(folder, { 'berth.yaml': 'run: x\nenv: { A: "1\\nIt costs at most $0.01." }\n' })
    expect((await berth('run')).err).toContain('  A=1\\u{a}It costs at most $0.01.\n')
    const given = 'run: x\nimage: theirs\nenv: { SEED: 7, HF: { secret: HF_TOKEN } }\nports: [6006]\n'
    write(folder, { 'berth.yaml': given })
    const handed = await berth('run')
    expect(handed.err).toContain('Set up with theirs, 20 GB of disk, port 6006.')
    expect(handed.err).toContain('Environment:\n  SEED=7\n  HF=(the secret HF_TOKEN)\n')
    expect(JSON.parse((await berth('run', '--json')).out)).toMatchObject({
      image: 'theirs',
      ports: [6006],
      env: { SEED: '7', HF: { secret: 'HF_TOKEN' } },
    })
    write(folder, { 'berth.yaml': `run: x${' '.repeat(33_000)}\n` })
    expect((await berth('run')).err).toContain('longer than 32 KB')
    write(folder, { 'berth.yaml': 'runn: exit 3\n"\\e[2J": 1\ndisk: much\n' })
    const wrong = await berth('run', '--yes')
    expect(wrong).toMatchObject({ code: 1, out: '' })
    expect(wrong.err).toMatch(
      /^berth\.yaml has errors:\n(.*\n)*line 1, column 1: runn is unknown.*\n(.*\n)*Fix them, then run it again\.\n$/,
    )
    expect(wrong.err).toContain('line 2, column 1: \\u{1b}[2J is unknown.')
    expect(wrong.err).toContain('line 3, column 7: disk: enter the disk in GB.')
    expect(await berth('project', 'add', 'nowhere')).toMatchObject({ code: 5 })
    expect(await berth('run', 'nowhere', '--yes')).toMatchObject({ code: 5 })
    expect(await berth('project', 'rm')).toMatchObject({ code: 2 })
    expect(existsSync(join(folder, 'nowhere'))).toBe(false)
  })
})

describe('a project on the machines that the simulator plays', () => {
  /** A project's folder, and the command in it. */
  async function played(files: Readonly<Record<string, string>>, more: SimulatorOptions = {}) {
    const world = await createWorld({ speed: 60, ...more })
    onTestFinished(() => world.close())
    const folder = join(world.platform.home, 'digits')
    write(folder, files)
    const under = await world.startConnected()
    const { home } = await openSocket(world, under.berth)
    const env = { HOME: world.platform.home }
    return { under, folder, berth: berthOn(home, { cwd: folder, env }) }
  }

  test('is sent, set up and run, and its results are downloaded before the machine is destroyed', async () => {
    const { under, folder, berth } = await played({
      'berth.yaml':
        'setup: pip install -r requirements.txt\nrun: |\n  cat src/epochs.txt\n  echo "$RUN"\n  python train.py --epochs 1\nenv: { RUN: first run }\nresults: [out, models/best.pt]\n',
      'requirements.txt': 'torch\n',
      'src/epochs.txt': 'one epoch\n',
      'train.py': 'raise SystemExit("never run here")\n',
      'out/earlier.txt': 'kept\n',
    })
    const ran = await berth('run', '.', '--yes', '-f')
    expect(ran.err).toMatch(/Sending.*\n(.*\n)*Done\n3 files downloaded\./)
    expect(ran).toMatchObject({ code: 0, out: expect.stringMatching(/one epoch\nfirst run\nTraining on /) })
    expect(readFileSync(join(folder, 'out', 'loss.csv'), 'utf8')).toMatch(/^step,loss\n1,/)
    expect(statSync(join(folder, 'out', 'model.safetensors')).size).toBe(512 * 1024)
    expect(statSync(join(folder, 'models', 'best.pt')).size).toBe(512 * 1024)
    expect(readFileSync(join(folder, 'out', 'earlier.txt'), 'utf8')).toBe('kept\n')
    await under.until(() => Object.keys(under.account().instances).length === 0)
  })

  test('is found by its folder before any project’s name, also one that a file takes later', async () => {
    const { under, folder, berth } = await played({ 'berth.yaml': 'run: echo mine\n' })
    const theirs = join(folder, '..', 'theirs')
    write(theirs, { 'berth.yaml': 'run: echo theirs\n' })
    const added = async () => JSON.parse((await berth('project', 'add', theirs, '--json')).out).project
    const { id } = await added()
    const command = async (...args: string[]) =>
      JSON.parse((await berth('run', ...args, '--json')).out).command
    write(folder, { 'inner/berth.yaml': 'run: echo inner\n' })
    write(theirs, { 'berth.yaml': 'name: inner\nrun: echo theirs\n' })
    expect(await added()).toMatchObject({ id, name: 'inner' })
    expect(await command('inner')).toBe('echo inner')
    expect(await command(id)).toBe('echo theirs')
    await berth('project', 'add', 'inner')
    expect(await berth('stop', 'inner')).toMatchObject({
      code: 1,
      err: expect.stringContaining('no run in progress'),
    })
    for (const name of ['.', folder]) {
      write(theirs, { 'berth.yaml': `name: ${JSON.stringify(name)}\nrun: echo theirs\n` })
      expect(await added()).toMatchObject({ name: 'theirs', usable: false })
      expect(await command(name)).toBe('echo mine')
    }
    expect(await berth('ps', '--project', theirs, '--json')).toMatchObject({ code: 0 })
    await under.run('removeProject', { project: id })
    expect(await berth('ps', '--project', theirs)).toMatchObject({ code: 5 })
  })

  test('needs --allow for a secret of another project, and says in JSON what a copy’s key can do', async () => {
    const { under, folder, berth } = await played({
      'berth.yaml': 'env: { HF: { secret: HF_TOKEN } }\nrun: echo "$HF"\n',
    })
    await under.run('saveSecret', { name: 'HF_TOKEN', value: 'hidden-value' })
    expect((await berth('run', '.')).err).toContain('Add --yes to run it, and with --allow secret:HF_TOKEN.')
    const refused = await berth('run', '.', '--yes')
    expect(refused).toMatchObject({ code: 4, out: '' })
    expect(refused.err).toContain('Use the HF_TOKEN you entered?')
    expect(refused.err).toContain('--allow secret:HF_TOKEN')
    expect(JSON.parse((await berth('run', '.', '--json')).out)).toMatchObject({
      asks: [{ allow: 'secret:HF_TOKEN', usedBy: [] }],
      from: [],
      key: null,
    })
    const ran = await berth('run', '.', '--yes', '-f', '--allow', 'secret:HF_TOKEN')
    expect(ran).toMatchObject({ code: 0, out: 'hidden-value\n' })
    write(folder, { 'berth.yaml': 'run: x\nresults: out\nfrom: s3.1://a/b\nto: s3.1://c\n' })
    expect(JSON.parse((await berth('run', '.', '--json')).out)).toMatchObject({
      from: [{ cloud: 's3.1://a/b', to: 'b' }],
      to: 's3.1://c',
      key: 'account',
      asks: [{ allow: 'cloud:s3.1' }, { allow: 'key' }],
    })
  })

  test('runs on several machines with --nodes, and prints the output of the first', async () => {
    const { under, berth } = await played(
      {
        'berth.yaml': 'machine: { gpu: RTX 4090 }\nrun: python train.py --epochs 1\nresults: out\n',
        'train.py': '',
      },
      { seed: 7, offers: 500 },
    )
    const plan = JSON.parse((await berth('run', '.', '--json', '--nodes', '3')).out)
    expect(plan.nodes).toHaveLength(3)
    expect(plan).toMatchObject({
      engine: 'torchrun',
      nodeCommand: expect.stringMatching(/^python -m torch.* train\.py/),
    })
    const ran = await berth('run', '.', '--yes', '-f', '--nodes', '3')
    expect(ran.err).toContain('3 machines of one cluster, all or none')
    expect(ran.err).toContain(
      'Every node runs, once for each GPU:\n  python -m torch.distributed.run --nnodes=',
    )
    const prices = [...ran.err.matchAll(/^ {2}(\d) with .*, \$([\d.]+)\/h$/gm)]
    const sum = prices.reduce((all, [, machines, each]) => all + Number(machines) * Number(each), 0)
    expect(sum).toBeCloseTo(Number(/Together \$([\d.]+)\/h/.exec(ran.err)?.[1]), 2)
    expect(ran).toMatchObject({ code: 0, err: expect.stringMatching(/Done\n2 files downloaded\./) })
    expect(ran.out.match(/Training on/g)).toHaveLength(1)
    await under.until(() => Object.keys(under.account().instances).length === 0)
  })

  test('ends with the code of a command that is missing there, which is named, and its machine is stopped', async () => {
    const { under, berth } = await played({ 'berth.yaml': 'run: trayn --fast\nresults: out\n' })
    const ran = await berth('run', '.', '--yes', '-f')
    expect(ran).toMatchObject({ code: 127, out: 'bash: trayn: command not found\n' })
    expect(ran.err).toContain('trayn')
    await under.until(() =>
      Object.values(under.account().instances).every(({ state }) => state === 'stopped'),
    )
    expect(Object.keys(under.account().instances)).toHaveLength(1)
  })
})
