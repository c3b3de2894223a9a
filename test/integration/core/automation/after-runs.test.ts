import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { chosenFolder } from '#platform/chosen-files.ts'
import { realTime } from '#simulator/http/faults.ts'
import { answeredDialogs } from '#test/berth/machine.ts'
import { codeOf, everyFile, requestCheapest } from '#test/berth/steps.ts'
import { createWorld } from '#test/berth/world.ts'
import { sshd } from '#test/integration/ssh/own-root.ts'
import { lacks } from '#test/needs.ts'
import { openInside, writeLarge } from './inside.ts'
import { plainRun, runOf, startRun, told } from './run-steps.ts'

const lacking = lacks(sshd, 'curl')

describe.skipIf(lacking)(`after its end a run${lacking}`, () => {
  test('keeps its chosen action once the service is being asked to act', async () => {
    let answer = () => {}
    const answered = new Promise<void>(resolve => {
      answer = resolve
    })
    const faultTime = { ...realTime, late: () => answered }
    const { world, under, instance, intended } = await openInside({ faultTime })
    world.sim.controls.setFaults([
      { method: 'PUT', path: '^/api/v0/instances/', kind: 'delay', ms: 1, times: 1 },
    ])
    const id = await startRun(under, { instance, command: 'true', afterwards: 'stop' })
    await under.until(() => runOf(under, id)?.step === 'ending')
    // Choosing the same again changes nothing until it is refused.
    await vi.waitFor(
      () =>
        expect(under.run('changeRun', { run: id, afterwards: 'stop' })).rejects.toMatchObject({
          problem: { code: 'too_late', message: 'Berth is already asking the service to stop the instance.' },
        }),
      { timeout: 150_000 },
    )
    expect(await codeOf(under.run('changeRun', { run: id, afterwards: 'nothing' }))).toBe('too_late')
    answer()
    await under.until(() => runOf(under, id)?.step === 'done')
    expect(runOf(under, id)).toMatchObject({ finalAction: 'stop', afterwards: 'stop' })
    expect(await intended()).toBe('stopped')
  })

  test('has its instance stopped, not destroyed, by a limit until its folder is fetched', async () => {
    const { world, under, instance, home, intended } = await openInside()
    const id = await startRun(under, { instance, command: 'sleep 600', fetch: home, afterwards: 'nothing' })
    await under.until(() => runOf(under, id)?.startedAt !== undefined)
    const when = { kind: 'time', at: world.sim.controls.ledger().now + 60 } as const
    await under.run('setLimit', { instance, when, action: 'destroy', warning: 0, missed: 'act' })
    await world.sim.controls.advance(120)
    await vi.waitFor(() => expect(told(world, /^Stopped /)).toBe(true), { timeout: 150_000 })
    expect(await intended()).toBe('stopped')
    const said = Object.values(under.berth.state().activity).map(({ text, detail }) => `${text}: ${detail}`)
    expect(said).toContainEqual(
      expect.stringMatching(/^A limit stops rather than destroys: .* isn’t downloaded yet\.$/),
    )
  })

  test.each([
    [
      'a link to a folder',
      'mkdir -p $HOME/big && echo w > $HOME/big/m && ln -s $HOME/big $HOME/out',
      'out/m',
    ],
    ['a file whose name is taken here', 'echo w > $HOME/out', 'out (2)'],
  ])('downloads %s, then destroys its instance', async (what, command, expected) => {
    const { world, under, instance, home, intended } = await openInside()
    const downloads = join(world.platform.home, 'Berth')
    mkdirSync(downloads)
    if (what.includes('taken')) writeFileSync(join(downloads, 'out'), 'mine')
    const fetch = join(home, 'out')
    const id = await startRun(under, { instance, command, fetch, afterwards: 'destroy' })
    await under.until(() => runOf(under, id)?.step === 'done')
    expect(runOf(under, id)).toMatchObject({ fetched: true, finalAction: 'destroy' })
    expect(readFileSync(join(downloads, expected), 'utf8')).toBe('w\n')
    if (what.includes('taken')) expect(readFileSync(join(downloads, 'out'), 'utf8')).toBe('mine')
    expect(await intended()).toBeUndefined()
  })

  test('stops its instance where its folder is written for ever', async () => {
    const { world, under, instance, home, intended } = await openInside()
    const command =
      'mkdir $HOME/out; touch $HOME/writes; echo w > $HOME/out/model; (while [ -e $HOME/writes ]; do date >> $HOME/out/log; sleep 0.1; done) >/dev/null 2>&1 & sleep 1'
    const fetch = join(home, 'out')
    const id = await startRun(under, { instance, command, fetch, afterwards: 'destroy' })
    await under.until(() => runOf(under, id)?.problem?.code === 'results_changing')
    expect(runOf(under, id)).toMatchObject({ step: 'fetching', unreached: undefined })
    await world.sleep(600)
    await under.until(() => runOf(under, id)?.step === 'failed')
    expect(runOf(under, id)).toMatchObject({ finalAction: 'stop', problem: { code: 'results_changing' } })
    expect(readFileSync(join(world.platform.home, 'Berth', 'out', 'model'), 'utf8')).toBe('w\n')
    expect(await intended()).toBe('stopped')

    rmSync(join(home, 'writes'))
    await under.run('startInstance', { instance })
    await world.sim.controls.advance(900)
    await under.run('retryRun', { run: id })
    await under.until(() => runOf(under, id)?.step === 'done')
    expect(runOf(under, id)).toMatchObject({ fetched: true, finalAction: 'stop', problem: undefined })
    expect(readFileSync(join(world.platform.home, 'Berth', 'out', 'log'))).toEqual(
      readFileSync(join(fetch, 'log')),
    )
  })

  test('fetches all files into a folder chosen meanwhile, then destroys its instance', async () => {
    const elsewhere = mkdtempSync(join(tmpdir(), 'berth-elsewhere-'))
    onTestFinished(() => rmSync(elsewhere, { recursive: true, maxRetries: 20 }))
    const { world, under, sshd, instance, home, intended } = await openInside({
      fileDialogs: answeredDialogs({ chooseTarget: async () => chosenFolder(elsewhere) }),
    })
    mkdirSync(join(home, 'results'))
    writeLarge(join(home, 'results', 'model'), 32)
    const fetch = join(home, 'results')
    const id = await startRun(under, { instance, command: 'true', fetch, afterwards: 'destroy' })
    await under.until(() => runOf(under, id)?.step === 'fetching')
    await sshd.stop()
    await under.until(() => runOf(under, id)?.unreached !== undefined)
    const folder = await under.run('chooseFolder', {})
    await under.run('retryRun', { run: id, into: folder?.choice })
    expect(runOf(under, id)).toMatchObject({ step: 'fetching', into: elsewhere })
    await sshd.start()
    await under.until(() => runOf(under, id)?.step === 'done')
    expect(runOf(under, id)).toMatchObject({ fetched: true, finalAction: 'destroy', into: elsewhere })
    expect(statSync(join(elsewhere, 'results', 'model')).size).toBe(32 * 1024 * 1024)
    expect(existsSync(join(world.platform.home, 'Berth', 'results', 'model'))).toBe(false)
    expect(await intended()).toBeUndefined()
  })

  test('is stopped by its watchdog while unfetched, and fetched once restarted', async () => {
    const { world, under, sshd, instance, home, intended } = await openInside()
    mkdirSync(join(home, 'results'))
    writeLarge(join(home, 'results', 'model'), 32)
    const fetch = join(home, 'results')
    const id = await startRun(under, {
      instance,
      command: 'true',
      fetch,
      afterwards: 'destroy',
      watchdog: true,
    })
    await under.until(() => runOf(under, id)?.step === 'fetching')
    await sshd.stop()
    await under.until(() => runOf(under, id)?.unreached !== undefined)
    const there = join(home, '.berth', 'runs', id)
    expect(readFileSync(join(there, 'then'), 'utf8')).toBe('stop 900\n')
    // Shortens the wait of 15 minutes.
    writeFileSync(join(there, 'then'), 'stop 1\n')
    rmSync(join(there, 'due'), { force: true })
    await expect.poll(intended, { timeout: 40_000, interval: 250 }).toBe('stopped')
    await under.until(() => runOf(under, id)?.interrupted === true)
    expect(runOf(under, id)).toMatchObject({ step: 'fetching', fetched: false })
    await sshd.start()
    await under.run('startInstance', { instance })
    await world.sim.controls.advance(900)
    await under.until(() => runOf(under, id)?.step === 'done')
    expect(runOf(under, id)).toMatchObject({ fetched: true, interrupted: true })
    expect(runOf(under, id)?.finalAction).toBeUndefined()
    expect(await intended()).toBe('running')
  })

  test('leaves no output on disk once its account is removed, even while it prints', async () => {
    const { world, under, instance } = await openInside()
    // Prints so much that some is always in transit.
    const id = await startRun(under, {
      instance,
      command: 'head -c 100000000 /dev/zero | tr "\\0" a',
    })
    const ended = await startRun(under, { instance, command: 'echo short' })
    await under.until(() => runOf(under, ended)?.step === 'done' && (runOf(under, id)?.outputBytes ?? 0) > 0)
    const kept = async () => [...(await everyFile(world)).keys()].filter(name => /\/runs\b/.test(name))
    expect((await kept()).some(name => name.includes(id))).toBe(true)
    await under.run('removeAccount', { account: under.account().id })
    expect(await kept()).toEqual([])
  })
})

test('a run whose rental fails is reported, and is dismissed with the rental', async () => {
  const world = await createWorld()
  onTestFinished(() => world.close())
  const under = await world.startConnected()
  const request = await requestCheapest(under)
  world.sim.controls.setFaults([
    { method: 'PUT', path: '/asks/', kind: 'status', status: 404, error: 'no_such_ask' },
  ])
  const run = { ...plainRun, command: 'python3 train.py' }
  const rental = await under.run('rent', { request, run })
  const id = Object.keys(under.account().runs)[0] ?? ''
  await under.until(() => runOf(under, id)?.step === 'failed')
  expect(runOf(under, id)?.problem?.message).toMatch(/^The rental it was waiting for failed\. ./)
  await under.until(() => told(world, /^python3 train\.py will not start$/))
  expect(under.account().rentals[rental]?.step).toBe('failed')
  await under.run('refresh', {})
  expect(runOf(under, id)).toBeDefined()
  await under.run('dismissRental', { rental })
  await under.run('refresh', {})
  await under.until(() => runOf(under, id) === undefined)
})
