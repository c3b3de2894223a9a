import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import type { Clock } from '#platform/platform.ts'
import { noSshd } from '#test/integration/ssh/own-root.ts'
import { jobOf, openProject, type ProjectPlace } from '../projects/place.ts'

const hour = 3600
const night = 8 * hour

interface SleepyClock extends Clock {
  sleep(): void
  /** Wakes `after` seconds; timers that came due fire now. */
  wake(after: number): void
}

function sleepy(clock: Clock): SleepyClock {
  let slept = 0
  let due: (() => void)[] | undefined
  return {
    now: () => clock.now() + slept * 1000,
    monotonic: clock.monotonic,
    after(milliseconds, callback) {
      let isCancelled = false
      const call = () => {
        if (!isCancelled) callback()
      }
      const cancel = clock.after(milliseconds, () => (due ? due.push(call) : call()))
      return () => {
        isCancelled = true
        cancel()
      }
    },
    sleep() {
      due = []
    },
    wake(after) {
      slept += after
      const late = due ?? []
      due = undefined
      for (const call of late) call()
    },
  }
}

/** A project, and its computer that can be put to sleep. */
async function openLid(files: Readonly<Record<string, string>>, servers = 1) {
  let clock: SleepyClock | undefined
  const place = await openProject(
    files,
    platform => {
      clock = sleepy(platform.clock)
      platform.clock = clock
    },
    {},
    servers,
  )
  const { world, under, sshds } = place
  /** The computer is silent for a night, and its connections are lost. */
  async function sleepThroughNight(meanwhile: () => Promise<void> = async () => undefined): Promise<void> {
    clock?.sleep()
    for (const sshd of sshds) sshd.freezeConnections()
    await meanwhile()
    await world.sim.controls.advance(night)
    for (const sshd of sshds) sshd.dropConnections()
    clock?.wake(night)
    under.berth.pollNow()
  }
  return { ...place, sleepThroughNight }
}

const files = (stop: string) => ({
  'berth.yaml': `run: |
  until [ -e ../../enough ]; do sleep 0.1; done
  echo trained > out.txt
results: out.txt
stop: ${stop}
`,
})

const result = ({ folder }: ProjectPlace) => readFileSync(join(folder, 'out.txt'), 'utf8')
const isRunning = ({ under }: ProjectPlace) =>
  Object.values(under.account().runs).some(({ outputs }) => outputs.includes('command'))
const allowCommand = ({ sshd }: ProjectPlace) => writeFileSync(join(sshd.home, 'enough'), '')

async function expectDone(place: ProjectPlace, id: string): Promise<void> {
  const { world, under } = place
  await under.until(() => jobOf(under, id)?.step === 'done')
  expect(result(place)).toBe('trained\n')
  await under.until(() => Object.keys(under.account().instances).length === 0)
  expect(world.sim.controls.ledger().instances).toHaveLength(1)
}

describe.skipIf(noSshd)(`a project’s run while the computer sleeps for a night${noSshd}`, () => {
  test('whose command ends meanwhile downloads its results in the morning', async () => {
    const place = await openLid(files('{ hours: 12 }'))
    const { under, sshd, project, runProject } = place
    const id = await runProject()
    await under.until(() => isRunning(place))
    await place.sleepThroughNight(async () => {
      allowCommand(place)
      const there = join(sshd.home, 'berth', project, 'out.txt')
      await vi.waitFor(() => expect(existsSync(there)).toBe(true), { timeout: 150_000, interval: 20 })
    })
    await expectDone(place, id)
    const { cost, most = 0 } = jobOf(under, id) ?? {}
    expect(cost?.micros).toBeLessThan(most)
  })

  test('that is uploading its folder finishes in the morning', async () => {
    const place = await openLid({ ...files('{ hours: 12 }'), 'data.bin': 'x'.repeat(24 * 1024 * 1024) })
    const { under, runProject } = place
    const id = await runProject()
    await under.until(() => (jobOf(under, id)?.sync?.done ?? 0) > 0)
    await place.sleepThroughNight()
    allowCommand(place)
    await expectDone(place, id)
  })

  test('whose machine is booting rents no second one', async () => {
    const place = await openLid(files('{ hours: 12 }'))
    const { under, runProject } = place
    const id = await runProject()
    await under.until(() => Object.keys(under.account().instances).length > 0)
    expect(jobOf(under, id)?.step).toBe('waiting')
    await place.sleepThroughNight()
    allowCommand(place)
    await expectDone(place, id)
  })

  test.for([
    ['its limit passes is stopped at the first poll', '{ hours: 2 }', false],
    ['its watchdog stops its machine for its limit leaves it so', '{ hours: 2 }', true],
  ] as const)('in which %s, and continues there on a retry', async ([, stop, byWatchdog]) => {
    const place = await openLid(files(stop))
    const { world, under, runProject } = place
    const id = await runProject()
    await under.until(() => isRunning(place))
    const instance = jobOf(under, id)?.instance ?? 0
    await place.sleepThroughNight(async () => {
      if (!byWatchdog) return
      // A watchdog calls the service like any holder of a key.
      await world.api('PUT', `/api/v0/instances/${instance}/`, { state: 'stopped' })
    })
    await under.until(() => jobOf(under, id)?.step === 'failed')
    const problem = {
      code: 'stopped_by_limit',
      message: expect.stringContaining('A limit stopped its machine'),
    }
    expect(jobOf(under, id)).toMatchObject({ failedAt: 'running', problem })
    expect(under.account().instances[instance]?.state).toBe('stopped')
    allowCommand(place)
    await under.run('retryRun', { run: id })
    await expectDone(place, id)
  })

  test('of a sweep finds its machines stopped at the limit by their watchdogs, and continues', async () => {
    const sweep = `runs: 3\n${files('{ hours: 3 }')['berth.yaml']}`
    const place = await openLid({ 'berth.yaml': sweep }, 3)
    const { under, runProject, sshds } = place
    const id = await runProject()
    const jobs = () => Object.values(under.account().runs)
    await under.until(() => jobs().length === 3 && jobs().every(({ outputs }) => outputs.includes('command')))
    const { deadline = 0 } = under.account().sweeps[id] ?? {}
    const asleep = () => Object.values(under.account().limits).filter(limit => limit.asleep)
    expect(new Set(asleep().map(({ instance }) => instance))).toEqual(
      new Set(jobs().map(job => job.instance)),
    )
    expect(asleep().map(({ action }) => action)).toEqual(['stop', 'stop', 'stop'])
    // A machine's share counts from when it runs: the poll after that moves its limit to the deadline of the whole.
    await under.until(() => asleep().every(({ dueAt = Infinity }) => dueAt < deadline + 60))
    await place.sleepThroughNight()
    await under.until(() => under.account().sweeps[id]?.step === 'halted')
    await under.until(() => jobs().every(({ step }) => step === 'failed'))
    expect(Object.values(under.account().instances).map(({ state }) => state)).toEqual(
      Array.from({ length: 3 }, () => 'stopped'),
    )
    for (const { home } of sshds) writeFileSync(join(home, 'enough'), '')
    await under.run('continueSweep', { sweep: id })
    await under.until(() => under.account().sweeps[id]?.step === 'over')
    expect(jobs().map(({ step }) => step)).toEqual(['done', 'done', 'done'])
    await under.until(() => Object.keys(under.account().instances).length === 0)
    expect(place.world.sim.controls.ledger().instances).toHaveLength(3)
  })
})
