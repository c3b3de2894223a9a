import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { noSshd } from '#test/integration/ssh/own-root.ts'
import { jobOf, openProject, type ProjectPlace } from '../projects/place.ts'

/** `changing`: is called once the results were found to change at their last download. */
async function runToEnd(run: string, results: string, changing?: (place: ProjectPlace) => Promise<void>) {
  const place = await openProject({ 'berth.yaml': `run: |\n  ${run}\nresults: ${results}\n` })
  const { under, runProject } = place
  const id = await runProject()
  if (changing) {
    await under.until(() => jobOf(under, id)?.problem?.code === 'results_changing')
    await changing(place)
  }
  const ended = () => ['done', 'failed'].includes(jobOf(under, id)?.step ?? '')
  await under.until(ended)
  return { ...place, id, job: () => jobOf(under, id) }
}

describe.skipIf(noSshd)(`the results of a project’s run${noSshd}`, () => {
  test.each([
    ['a broken link', 'ln -s nowhere out', 'results_left', 'out (a broken link, or one with too many steps)'],
    ['a pipe', 'mkdir out; mkfifo out/pipe', 'results_missing', 'out is missing or empty'],
  ])('keep the machine, stopped, where they are %s', async (_, run, code, message) => {
    const { under, job } = await runToEnd(run, 'out')
    expect(job()).toMatchObject({
      step: 'failed',
      problem: { code, message: expect.stringContaining(message) },
    })
    await under.until(() => Object.values(under.account().instances)[0]?.state === 'stopped')
    expect(Object.keys(under.account().instances)).toHaveLength(1)
  })

  test('aren’t put into a folder that is empty now, as where its disk isn’t mounted any more', async () => {
    const run = 'mkdir out; echo x > out/r; sleep 5'
    const { under, runProject, folder } = await openProject({
      'berth.yaml': `run: ${JSON.stringify(run)}\nresults: out\n`,
    })
    const id = await runProject()
    await under.until(() => jobOf(under, id)?.step === 'running' && (jobOf(under, id)?.startedAt ?? 0) > 0)
    rmSync(folder, { recursive: true })
    mkdirSync(folder)
    const instance = jobOf(under, id)?.instance ?? 0
    await under.until(() => jobOf(under, id)?.step === 'failed')
    expect(jobOf(under, id)?.problem).toMatchObject({
      code: 'no_such_folder',
      message: expect.stringContaining('its disk may not be mounted'),
    })
    expect(readdirSync(folder)).toEqual([])
    await under.until(() => under.account().instances[instance]?.state === 'stopped')
  })

  test('are downloaded again while the command’s child still writes them', async () => {
    const writer =
      'mkdir -p out && (for i in $(seq 20); do head -c 200000 /dev/zero >> out/model.pt; sleep 0.5; done; echo whole > out/whole) >/dev/null 2>&1 & sleep 2; echo ended'
    const { under, folder, job } = await runToEnd(writer, 'out')
    expect(job()).toMatchObject({ step: 'done', code: 0 })
    expect(statSync(join(folder, 'out/model.pt')).size).toBe(4_000_000)
    expect(readFileSync(join(folder, 'out/whole'), 'utf8')).toBe('whole\n')
    await under.until(() => Object.keys(under.account().instances).length === 0)
  })

  test('are downloaded again if a child process wrote another one after a pause', async () => {
    const { folder, job } = await runToEnd(
      `echo 1 > a; (sleep 8; cp a b) >/dev/null 2>&1 & (setsid sh -c 'sleep 12; cp a c' >/dev/null 2>&1 &)`,
      '[a, b, c]',
    )
    expect(job()).toMatchObject({ step: 'done' })
    for (const late of ['b', 'c']) expect(readFileSync(join(folder, late), 'utf8')).toBe('1\n')
  })

  test.each([
    [
      'a file is truncated for ever',
      'while [ -e out ]; do truncate -s 0 out/log.txt; echo x >> out/log.txt; sleep 0.1; done',
    ],
    [
      'a detached program writes for ever',
      'exec setsid sh -c "while [ -e out ]; do date >> out/log.txt; sleep 1; done"',
    ],
  ])('keep the machine, stopped, where %s', async (_, child) => {
    const { under, folder, job, id } = await runToEnd(
      `mkdir out; echo whole > out/model; (${child}) >/dev/null 2>&1 & sleep 1`,
      'out',
      ({ world }) => world.sleep(600),
    )
    onTestFinished(() => under.run('cancelRun', { run: id }))
    expect(job()).toMatchObject({
      step: 'failed',
      failedAt: 'fetching',
      problem: { code: 'results_changing', message: expect.stringContaining('still being written') },
      keptUntil: { destroys: false },
    })
    expect(readFileSync(join(folder, 'out/model'), 'utf8')).toBe('whole\n')
    await under.until(() => Object.values(under.account().instances)[0]?.state === 'stopped')
  })

  test('of a failed command are downloaded without a wait for what it left, and the run resumes there', async () => {
    const { under, sshd, folder, job, id } = await runToEnd(
      '(while [ ! -e ../../good ]; do sleep 0.2; echo >> ticks; done) & echo epoch-90 > checkpoint.pt; cp checkpoint.pt log.txt; [ -e ../../good ] && cp checkpoint.pt final.pt || exit 3',
      '[final.pt, log.txt]',
    )
    expect(job()).toMatchObject({
      step: 'failed',
      failedAt: 'running',
      code: 3,
      downloadResult: { files: 1 },
      problem: { code: 'command_failed', message: 'The command ended with exit code 3.' },
      fetchable: true,
    })
    expect(readFileSync(join(folder, 'log.txt'), 'utf8')).toBe('epoch-90\n')
    await under.until(() => Object.values(under.account().instances)[0]?.state === 'stopped')

    const there = join(sshd.home, 'berth', job()?.project ?? '')
    writeFileSync(join(there, 'log.txt'), 'more\n')
    await under.run('fetchRun', { run: id })
    const log = () => readFileSync(join(folder, 'log.txt'), 'utf8')
    await under.until(() => job()?.step === 'failed' && log() === 'more\n')
    expect(job()).toMatchObject({ failedAt: 'running', code: 3, problem: { code: 'command_failed' } })
    expect(job()?.downloadResult?.files).toBe(1)
    await under.until(() => Object.values(under.account().instances)[0]?.state === 'stopped')

    writeFileSync(join(sshd.home, 'good'), '')
    await under.run('retryRun', { run: id })
    await under.until(() => job()?.step === 'done')
    expect(job()).toMatchObject({ code: 0, problem: undefined })
    expect(readFileSync(join(folder, 'final.pt'), 'utf8')).toBe('epoch-90\n')
    await under.until(() => Object.keys(under.account().instances).length === 0)
  })

  test('from a checkpoint don’t replace later ones on the machine when the run resumes', async () => {
    const { world, under, sshd, folder, runProject } = await openProject({
      'berth.yaml': `checkpoint: 10m
run: |
  if [ -e $HOME/stopped ]; then cp out/ckpt out/resumed; exit 0; fi
  mkdir -p out; echo epoch-1 > out/ckpt
  while [ ! -e $HOME/more ]; do sleep 0.1; done
  echo epoch-22 > out/ckpt; touch $HOME/written; sleep 600
results: out
`,
    })
    const id = await runProject()
    await under.until(() => jobOf(under, id)?.step === 'running')
    await world.sim.controls.advance(600)
    await under.until(() => jobOf(under, id)?.downloadResult?.files === 1)
    writeFileSync(join(sshd.home, 'more'), '')
    await expect.poll(() => existsSync(join(sshd.home, 'written')), { timeout: 150_000 }).toBe(true)
    writeFileSync(join(sshd.home, 'stopped'), '')
    await under.run('stopInstance', { instance: jobOf(under, id)?.instance ?? 0 })
    await under.until(() => jobOf(under, id)?.step === 'failed')
    await under.run('retryRun', { run: id })
    await under.until(() => jobOf(under, id)?.step === 'done')
    expect(readFileSync(join(folder, 'out/resumed'), 'utf8')).toBe('epoch-22\n')
  })

  test('being written never replace a whole checkpoint, from which the next machine starts', async () => {
    const { world, under, sshd, folder, runProject } = await openProject({
      'berth.yaml': `machine: { interruptible: true, price: 5 }
checkpoint: 1m
outbid: { elsewhere: 1 }
run: |
  if [ -e out/ckpt ]; then cp out/ckpt out/resumed; exit 0; fi
  mkdir -p out; echo whole > out/ckpt
  while [ ! -e $HOME/more ]; do sleep 0.1; done
  exec 3> out/ckpt; printf torn >&3; sleep 600
results: out
`,
    })
    const id = await runProject()
    const job = () => jobOf(under, id)
    const waits = () => job()?.problem?.code === 'checkpoint_waits'
    await under.until(() => job()?.downloadResult?.files === 1)
    writeFileSync(join(sshd.home, 'more'), '')
    await under.until(waits)
    expect(readFileSync(join(folder, 'out/ckpt'), 'utf8')).toBe('whole\n')
    await world.sim.controls.outbid(job()?.instance ?? 0)
    await under.until(() => job()?.moves === 1)
    rmSync(join(sshd.home, 'berth'), { recursive: true, force: true })
    await under.until(() => job()?.step === 'done')
    expect(readFileSync(join(folder, 'out/resumed'), 'utf8')).toBe('whole\n')
    expect(existsSync(join(folder, '.berth-earlier'))).toBe(false)
  })

  test.each([
    ['remind', false],
    ['destroy', true],
  ])('of a command that fails are kept for the agreed time: %s', async (afterwards, isGone) => {
    const { world, under, runProject } = await openProject({
      'berth.yaml': `run: echo x > a; exit 3\nresults: a\nfailed: { keep: 2h, afterwards: ${afterwards} }\n`,
    })
    const id = await runProject()
    const job = () => jobOf(under, id)
    await under.until(() => job()?.step === 'failed')
    await under.until(() => Object.values(under.account().instances)[0]?.state === 'stopped')
    const { at = 0 } = job()?.keptUntil ?? {}
    await world.sim.controls.advance(2 * 3600)
    under.berth.pollNow()
    await under.until(() => job()?.keptUntil?.at !== at)
    await under.until(() => (Object.keys(under.account().instances).length === 0) === isGone)
    const title = isGone ? /failed, and its machine is destroyed$/ : /still has a machine$/
    await under.until(() => Object.values(under.berth.state().activity).some(({ text }) => title.test(text)))
  })
})
