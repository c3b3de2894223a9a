import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { everyFile } from '#test/berth/steps.ts'
import type { World } from '#test/berth/world.ts'
import { sshd } from '#test/integration/ssh/own-root.ts'
import { lacks } from '#test/needs.ts'
import { openInside, writeLarge } from './inside.ts'
import { runOf, startRun, told } from './run-steps.ts'

const lacking = lacks(sshd, 'curl')

/** The output as stored on this machine. */
async function storedOutput(world: World, id: string): Promise<string> {
  const files = [...(await everyFile(world))].filter(([name]) => name.includes(`/runs/${id}.`))
  return files
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, text]) => text)
    .join('')
}

/** Wakes a shell that sleeps. */
function endChildren(pid: string): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  for (const child of children.split(' ').filter(Boolean)) process.kill(Number(child))
}

/** What nvidia-smi does on machines whose driver is not well. */
const oddDrivers = {
  'reports no load': 'echo "[N/A]"',
  'has no NVML':
    'echo "Failed to initialize NVML: Unknown Error"; echo "NVML library version: 550.1"; exit 18',
  'finds no device': 'echo "No devices were found"; exit 6',
  'knows one of two loads': 'echo 0; echo "[N/A]"',
  'prints nothing': 'exit 9',
  'warns of an idle GPU': 'echo 0; echo "WARNING: infoROM is corrupted at gpu 0000:01:00.0"; exit 14',
  'has fractions': 'echo 3.5',
  'ends lines as Windows does': 'printf "3\\r\\n"',
  hangs: 'exec sleep 1000',
}

describe.skipIf(lacking)(`a run${lacking}`, () => {
  test('that fails is told, and its instance is stopped rather than destroyed', async () => {
    const { world, under, instance, home, intended } = await openInside()
    const id = await startRun(under, {
      instance,
      name: 'training',
      command: 'sleep 1000',
      afterwards: 'destroy',
    })
    await under.until(() => runOf(under, id)?.startedAt !== undefined)
    const folder = join(home, '.berth/runs', id)
    await expect.poll(() => existsSync(join(folder, 'pid'))).toBe(true)
    process.kill(Number(readFileSync(join(folder, 'pid'), 'utf8')), 'SIGKILL')
    await under.until(() => runOf(under, id)?.step === 'failed')
    expect(runOf(under, id)).toMatchObject({ problem: { code: 'process_gone' }, finalAction: 'stop' })
    expect(await intended()).toBe('stopped')
    expect(told(world, /^training has failed$/)).toBe(true)
    expect(under.texts()).toContain('training has failed')
  })

  test('is told, tried again and followed to its end where a start file takes the shell over for a while', async () => {
    const { world, under, instance, home } = await openInside()
    const enough = join(home, 'enough')
    const command = `while [ ! -e ${enough} ]; do sleep 0.1; done; echo trained; exit 3`
    const id = await startRun(under, { instance, name: 'training', command })
    await under.until(() => runOf(under, id)?.startedAt !== undefined)
    writeFileSync(join(home, '.bashrc'), 'echo "no room for you" >&2; exit 1\n')
    await under.until(() => runOf(under, id)?.problem?.code === 'shell_replaced')
    await expect.poll(() => told(world, /^training can’t be followed now$/), { timeout: 150_000 }).toBe(true)
    expect(runOf(under, id)?.step).toBe('running')
    writeFileSync(enough, '')
    writeFileSync(join(home, '.bashrc'), 'echo "Welcome to box 7"\n')
    await under.until(() => runOf(under, id)?.step === 'failed')
    expect(runOf(under, id)).toMatchObject({ code: 3, problem: { code: 'command_failed' } })
  })

  test('is followed to its end and acted on whatever nvidia-smi does', async () => {
    const { under, instance, setNvidiaSmi, intended } = await openInside()
    const command = 'for i in 1 2 3; do echo $i; sleep 0.2; done'
    const run = { instance, command, stuckAfter: 60 }
    for (const [driver, script] of Object.entries(oddDrivers)) {
      setNvidiaSmi(script)
      const id = await startRun(under, { ...run, name: driver })
      await under.until(() => runOf(under, id)?.step === 'done')
      expect(runOf(under, id), driver).toMatchObject({ code: 0, outputBytes: 6, problem: undefined })
    }
    await startRun(under, { ...run, name: 'last', afterwards: 'stop' })
    await expect.poll(intended, { timeout: 150_000 }).toBe('stopped')
  })

  test('keeps its output over lost connections and a restart, downloads and stops', async () => {
    const { world, under, sshd, instance, home, intended, restart } = await openInside()
    mkdirSync(join(home, 'results', 'deep'), { recursive: true })
    writeFileSync(join(home, 'results', 'deep', 'model'), 'weights')
    const enough = join(home, 'enough')
    const counted = join(home, 'counted')
    const id = await startRun(under, {
      instance,
      name: 'training',
      command: `i=0\nwhile [ ! -e ${enough} ]; do i=$((i+1)); echo "line $i – ünïcode"; sleep 0.03; done\necho $i > ${counted}\necho "it's done" >&2\nexit 7`,
      fetch: join(home, 'results'),
      afterwards: 'destroy',
    })
    let seen = 0
    for (let drop = 0; drop < 3; drop += 1) {
      await under.until(() => (runOf(under, id)?.outputBytes ?? 0) > seen)
      seen = runOf(under, id)?.outputBytes ?? 0
      // What is shown may have come over the connection before, and the next one not be there yet.
      await expect.poll(() => sshd.dropConnections(), { timeout: 150_000 }).toBeGreaterThan(0)
    }
    await under.until(() => (runOf(under, id)?.outputBytes ?? 0) > seen)
    expect(runOf(under, id)?.step).toBe('running')
    await under.close()

    const again = await restart()
    const steps: string[] = []
    again.berth.onChange(() => {
      const step = runOf(again, id)?.step
      if (step !== undefined && steps.at(-1) !== step) steps.push(step)
      // The folder is fetched before anything is done to the instance.
      if (step === 'ending') steps.push(existsSync(join(home, '..', 'Berth', 'results')) ? 'fetched' : 'lost')
    })
    await again.until(() => steps.includes('running'))
    writeFileSync(enough, '')
    await again.until(() => runOf(again, id)?.step === 'failed')
    expect(runOf(again, id)).toMatchObject({
      code: 7,
      fetched: true,
      finalAction: 'stop',
      interrupted: false,
      problem: { message: 'The command ended with exit code 7.' },
    })
    const lines = Number(readFileSync(counted, 'utf8'))
    const numbered = Array.from({ length: lines }, (_, at) => `line ${at + 1} – ünïcode\n`).join('')
    expect(await storedOutput(world, id)).toBe(`${numbered}it's done\n`)
    expect(readFileSync(join(home, '..', 'Berth', 'results', 'deep', 'model'), 'utf8')).toBe('weights')
    expect(await intended()).toBe('stopped')
    expect([...new Set(steps)]).toEqual(['running', 'fetching', 'ending', 'fetched', 'failed'])
    expect(told(world, /^training failed with exit code 7$/)).toBe(true)
    // The command ran once, despite the lost connections.
    expect(readFileSync(join(home, '.berth', 'runs', id, 'code'), 'utf8').trim()).toBe('7')
    const found = await again.run('searchRun', { run: id, text: `LINE ${lines} –` })
    expect(found).toMatchObject({ matches: [{ line: lines, text: `line ${lines} – ünïcode` }], total: 1 })
  }, 120_000)

  test('with a missing folder withdraws its watchdog order and waits for a retry', async () => {
    const { world, under, instance, home, intended } = await openInside()
    const id = await startRun(under, {
      instance,
      command: 'echo quick',
      fetch: join(home, 'nowhere'),
      afterwards: 'destroy',
      watchdog: true,
    })
    await under.until(() => runOf(under, id)?.step === 'failed')
    expect(runOf(under, id)).toMatchObject({ code: 0, fetched: false })
    expect(runOf(under, id)?.problem?.message).toMatch(/nowhere/)
    expect(await intended()).toBe('running')
    await under.until(() => told(world, /is kept: .*nowhere couldn’t be downloaded/))
    expect(under.account().watchdogs[instance]?.step).toBe('watching')
    await under.until(() => !existsSync(join(home, '.berth', 'runs', id, 'then')))

    // Once the folder exists, a retry fetches it and does what was chosen.
    mkdirSync(join(home, 'nowhere'))
    writeFileSync(join(home, 'nowhere', 'result'), 'found')
    await under.run('retryRun', { run: id })
    await under.until(() => runOf(under, id)?.step === 'done')
    expect(runOf(under, id)).toMatchObject({ fetched: true, finalAction: 'destroy' })
    expect(await intended()).toBeUndefined()
  }, 120_000)

  test('that cannot be fetched over SSH alerts, retries after a restart, and can be given up', async () => {
    const { world, under, sshd, instance, home, intended, restart } = await openInside()
    mkdirSync(join(home, 'results'))
    for (const name of ['first', 'second', 'third']) writeLarge(join(home, 'results', name), 16)
    const id = await startRun(under, {
      instance,
      command: 'echo quick',
      fetch: join(home, 'results'),
      afterwards: 'destroy',
      watchdog: true,
    })
    await under.until(() => runOf(under, id)?.step === 'fetching')
    const order = join(home, '.berth', 'runs', id, 'then')
    // The watchdog only stops it, since destroying would lose what is not fetched.
    expect(readFileSync(order, 'utf8')).toBe('stop 900\n')
    await sshd.stop()
    await under.until(() => runOf(under, id)?.unreached !== undefined)
    expect(runOf(under, id)).toMatchObject({ step: 'fetching', fetched: false })
    expect(runOf(under, id)?.problem?.code).toMatch(/^ssh_/)
    expect(told(world, /can’t be downloaded yet/)).toBe(false)
    await world.sim.controls.advance(60)
    await under.until(() => told(world, /results of echo quick can’t be downloaded yet$/))

    // The watchdog hears of this choice only once SSH works, and State says so.
    await under.run('changeRun', { run: id, afterwards: 'nothing' })
    expect(runOf(under, id)).toMatchObject({ step: 'fetching', watchdogStale: true })
    await under.close()
    const shown = world.notifier.shown.length
    const again = await restart()
    await again.until(() => runOf(again, id)?.unreached?.nextTryAt !== undefined)
    expect(runOf(again, id)).toMatchObject({ step: 'fetching', watchdogStale: true, afterwards: 'nothing' })
    expect(world.notifier.shown.slice(shown).some(({ title }) => /can’t be downloaded/.test(title))).toBe(
      false,
    )
    await again.run('giveUpFetch', { run: id })
    expect(runOf(again, id)).toMatchObject({ step: 'done', fetched: false, watchdogStale: true })
    expect(runOf(again, id)?.unreached).toBeUndefined()
    expect(existsSync(order)).toBe(true)
    await sshd.start()
    await again.until(() => runOf(again, id)?.watchdogStale === false)
    expect(existsSync(order)).toBe(false)
    expect(await intended()).toBe('running')
  }, 120_000)

  test('held up by another run can stop instead of destroy, also in its watchdog order', async () => {
    const { under, instance, home, intended } = await openInside()
    const other = await startRun(under, { instance, command: 'sleep 600' })
    const id = await startRun(under, { instance, command: 'true', afterwards: 'destroy', watchdog: true })
    await under.until(() => runOf(under, id)?.problem?.code === 'other_run')
    const order = () => readFileSync(join(home, '.berth', 'runs', id, 'then'), 'utf8')
    expect(order()).toBe('destroy 300\n')
    await under.run('changeRun', { run: id, afterwards: 'stop' })
    expect(order()).toBe('stop 300\n')
    expect(runOf(under, id)?.watchdogStale).toBe(false)
    await under.run('endRun', { run: other })
    await under.until(() => runOf(under, id)?.step === 'done')
    expect(await intended()).toBe('stopped')
    // The watchdog must not stop it again once it is started.
    expect(existsSync(join(home, '.berth', 'runs', id, 'served'))).toBe(true)
    await expect(under.run('changeRun', { run: id, afterwards: 'nothing' })).resolves.toBeUndefined()
  }, 120_000)

  test('keeps running when one poll misses its instance, also beside another run', async () => {
    const { under, instance, hide } = await openInside()
    const ids = [
      await startRun(under, { instance, command: 'sleep 600' }),
      await startRun(under, { instance, command: 'sleep 600' }),
    ]
    await under.until(() => ids.every(id => runOf(under, id)?.startedAt !== undefined))
    hide(1)
    await under.until(() => under.account().instances[instance] === undefined)
    await under.until(() => under.account().instances[instance] !== undefined)
    expect(ids.map(id => runOf(under, id)?.step)).toEqual(['running', 'running'])
  }, 120_000)

  test('that ends while Berth is closed has its instance stopped by the watchdog', async () => {
    const { under, instance, home, intended } = await openInside()
    const command = `until [ -e ${join(home, 'enough')} ]; do sleep 0.1; done`
    const id = await startRun(under, { instance, command, afterwards: 'stop', watchdog: true })
    await under.until(() => runOf(under, id)?.startedAt !== undefined)
    await under.close()
    const then = join(home, '.berth', 'runs', id, 'then')
    expect(readFileSync(then, 'utf8')).toBe('stop 300\n')
    // Shortens the wait of 5 minutes, and those of 10 seconds between two checks.
    writeFileSync(then, 'stop 1\n')
    const watchdog = (name: string) => join(home, '.berth', 'watchdog', name)
    writeFileSync(watchdog('config'), readFileSync(watchdog('config'), 'utf8').replace('tick=10', 'tick=1'))
    endChildren(readFileSync(watchdog('pid'), 'utf8').trim())
    writeFileSync(join(home, 'enough'), '')
    await expect.poll(intended, { timeout: 40_000, interval: 250 }).toBe('stopped')
    expect(readFileSync(watchdog('log'), 'utf8')).toContain(`run ${id} has ended: stop`)
  }, 120_000)

  test('seems stuck when silent on idle GPUs, not under load, and can be ended', async () => {
    const { world, under, instance, setLoad } = await openInside()
    const id = await startRun(under, { instance, command: 'echo begun; sleep 600', stuckAfter: 2 })
    await under.until(() => (runOf(under, id)?.outputBytes ?? 0) > 0)
    const began = world.sim.controls.ledger().now
    await expect.poll(() => world.sim.controls.ledger().now).toBeGreaterThan(began + 4)
    expect(runOf(under, id)?.stuckSince).toBeUndefined()
    setLoad(0)
    await under.until(() => runOf(under, id)?.stuckSince !== undefined)
    await under.until(() => told(world, /seems stuck/))
    await under.run('endRun', { run: id })
    await under.until(() => runOf(under, id)?.step === 'done')
    expect(runOf(under, id)?.code).toBe(143)
  }, 120_000)

  test('that cannot be started can be ended and removed from the list', async () => {
    const { under, sshd, instance } = await openInside()
    await sshd.stop()
    sshd.dropConnections()
    const id = await startRun(under, { instance, command: 'echo never' })
    await under.until(() => runOf(under, id)?.problem !== undefined)
    expect(runOf(under, id)).toMatchObject({ step: 'running', startedAt: undefined })
    await under.run('endRun', { run: id })
    expect(runOf(under, id)?.step).toBe('cancelled')
    expect(runOf(under, id)?.problem).toBeUndefined()
    await under.run('dismissRun', { run: id })
    expect(runOf(under, id)).toBeUndefined()
  }, 120_000)
})
