import type { ChildProcess } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { publicProfile } from '#simulator/deployment.ts'
import { startSimulator } from '#simulator/simulator.ts'
import { type Killable, listed, stored } from '#test/berth/processes.ts'
import { newKey } from '#test/new-key.ts'
import { write } from '../core/projects/place.ts'
import { openLine } from '../ssh/line.ts'
import { startSshd } from '../ssh/sshd.ts'
import { joinMachines, type Machine, startMachine } from './machines.ts'
import type { End, Night, Size } from './plan.ts'

/** Seconds between two snapshots. */
export const interval = 60

/** What came of a round. Seconds. */
export interface Outcome {
  seed: number
  ends: string[]
  /** Of training, at each move. */
  lost: number[]
  /** For how long the store did not answer around each. */
  outage: number[]
  /** How much later than usual the job's steps came during each snapshot. */
  pauses: number[]
  torn: number
  moves: number
  step: string
  problem?: string
  /** Instances that were ever rented, and those left at the end. */
  rented: number
  left: number
  /** Through this computer, until the results come at the end. */
  kilobytes: number
}

const specOf = (night: Night, size: Size, to: string) => `machine: { interruptible: true, price: 5 }
outbid: { elsewhere: 5 }
wait: 12h
results: out
checkpoint: { every: 1m, to: '${to}', password: { secret: BACKUP_PASSWORD }, key: { secret: BACKUP_KEY } }
stop: { hours: 200 }
run: exec /usr/bin/python3 train.py ${size.state} ${night.saves} ${size.torch ? 'torch' : 'bare'}
`

/** Lets a project train through its round, and tells what came of it. */
export async function runNight(processes: Killable, night: Night, size: Size): Promise<Outcome> {
  const { seed } = night
  const home = mkdtempSync(join(tmpdir(), 'berth-hours-'))
  const closes: (() => unknown)[] = [() => rmSync(home, { recursive: true, force: true, maxRetries: 20 })]
  const atEnd = (close: () => unknown) => void closes.push(close)
  try {
    const deployment = { ...publicProfile, limits: 'buckets', logs: 0, copies: night.copies } as const
    const sim = await startSimulator({ seed, speed: 60, offers: 60, calm: true, limits: false, deployment })
    atEnd(() => sim.close())
    sim.controls.setCredit(10_000)
    const store = await startSshd()
    atEnd(() => store.close())
    const { private: privateKey, public: publicKey } = newKey()
    store.authorize(publicKey)
    const line = await openLine(store, { delay: 3, rate: 25_000 })
    atEnd(() => line.close())
    const machines: Machine[] = []
    for (let index = 0; index <= night.ends.length; index++) {
      const machine = await startMachine(join(home, `programs${index}`))
      machines.push(machine)
      atEnd(() => machine.close())
    }
    const folder = join(home, 'code')
    write(folder, {
      'berth.yaml': specOf(night, size, `sftp://root@${line.host}:${line.port}/${store.folder}/backups`),
    })
    cpSync(join(import.meta.dirname, 'train.py'), join(folder, 'train.py'))

    const account = [home, sim.baseUrl, sim.apiKey]
    const secrets = { BACKUP_PASSWORD: 'a password', BACKUP_KEY: privateKey.replaceAll('\n', ' ') }
    let berth: ChildProcess = processes.start([...account, 'project', folder], {
      BERTH_TEST_SECRETS: JSON.stringify(secrets),
    })
    atEnd(() => berth.kill('SIGKILL'))
    atEnd(joinMachines(sim, home, machines))

    const { lost, outage, torn } = { lost: [] as number[], outage: [] as number[], torn: [] as number[] }
    for (const [index, end] of night.ends.entries()) {
      const [machine, next] = [machines[index], machines[index + 1]]
      if (!machine || !next) throw new Error('there are too few machines')
      await until(`seed ${seed}: step ${index}`, () => machine.steps().length > 0)
      await wait((end.after - end.before) * 1000)
      if (end.berth === 'killed') berth.kill('SIGKILL')
      if (end.berth === 'asleep') berth.kill('SIGSTOP')
      const without = performance.now()
      const resume = end.store === 'hangs' ? store.freezeConnections() : () => undefined
      if (end.store === 'gone') await store.stop()
      await wait(end.before * 1000)
      await moment(machine, end)
      const last = { at: Date.now() / 1000, steps: machine.steps() }
      if (end.kind === 'offline') machine.line.setOpen(false)
      else machine.end()
      if (end.kind === 'outbid') await sim.controls.outbid(machine.instance ?? 0)
      else await sim.controls.forceStatus(machine.instance ?? 0, end.kind === 'crash' ? 'exited' : 'offline')
      await wait(end.later * 1000)
      resume()
      if (end.store === 'gone') await store.start()
      outage.push(end.store === 'there' ? 0 : (performance.now() - without) / 1000)
      if (end.berth === 'asleep') berth.kill('SIGCONT')
      if (end.berth === 'killed') berth = processes.start([...account, 'go on', folder])
      await until(`seed ${seed}: begin ${index + 1} after ${said(end)}`, () => next.begun() !== undefined)
      if (end.kind === 'offline') {
        // It comes back while the run is on the next one, unless it was destroyed.
        machine.line.setOpen(true)
        if (listed(sim).some(({ id }) => id === machine.instance))
          await sim.controls.forceStatus(machine.instance ?? 0, 'running')
      }
      lost.push(lostBetween(machine, last.steps, next))
      torn.push(Number(next.begun()?.torn))
    }
    const final = machines.at(-1)
    await until(`seed ${seed}: last steps`, () => (final?.steps().length ?? 0) > 2)
    const kilobytes = Math.round(machines.reduce((sum, { line }) => sum + line.bytes(), 0) / 1024)
    for (const { sshd } of machines) write(sshd.home, { enough: '' })
    let job: { step: string; moves?: number; problem?: { message: string } } | undefined
    await until(`seed ${seed}: end`, async () => {
      ;[job] = JSON.parse((await stored(home, 'runs')) || '[]')
      return (job?.step === 'done' || job?.step === 'failed') && listed(sim).length === 0
    }).catch(() => undefined)
    return {
      seed,
      ends: night.ends.map(said),
      lost,
      outage,
      pauses: machines.flatMap(pausesOf),
      torn: torn.filter(Boolean).length,
      moves: job?.moves ?? 0,
      step: job?.step ?? '',
      ...(job?.problem && { problem: job.problem.message }),
      rented: sim.controls.ledger().instances.length,
      left: listed(sim).length,
      kilobytes,
    }
  } finally {
    for (const close of closes.reverse()) await close()
  }
}

const said = ({ kind, during, berth, store }: End) =>
  `${kind} during ${during}, Berth ${berth}, store ${store}`

/** Waits until the job writes or the machine stores, where the end is to come then; a minute at most. */
async function moment(machine: Machine, { during }: End): Promise<void> {
  const file = during === 'storing' ? 'storing' : 'writing'
  for (let waited = 0; during !== 'any' && waited < 70_000; waited += 20) {
    if (machine.has(file)) break
    await wait(20)
  }
  if (during !== 'any') await wait(Math.random() * 500)
}

/** Seconds of training that the next machine does again. */
function lostBetween(machine: Machine, steps: ReturnType<Machine['steps']>, next: Machine): number {
  const last = steps.at(-1)
  const from = next.begun()
  if (!last || !from) return Number.NaN
  const kept = steps.find(({ step }) => step === from.step)?.at
  if (kept !== undefined) return last.at - kept
  const first = machine.begun()
  return last.at - (first?.at ?? last.at) + Math.max(0, (first?.step ?? 0) - from.step)
}

/** For each snapshot: by how much steps during it came later than usual. After every tenth the job saves, which takes longer. */
function pausesOf(machine: Machine): number[] {
  const steps = machine.steps()
  const gaps = steps.slice(1).map(({ at }, index) => {
    const before = steps[index]
    return { from: before?.at ?? at, to: at, saves: before !== undefined && before.step % 10 === 0 }
  })
  const stores = machine.stores()
  const isDuring = (gap: { from: number; to: number }) =>
    stores.some(({ from, to }) => gap.from < to && gap.to > from)
  const usual = (saves: boolean) =>
    median(gaps.filter(gap => gap.saves === saves && !isDuring(gap)).map(({ from, to }) => to - from))
  const [save, step] = [usual(true), usual(false)]
  return stores.map(({ from, to }) =>
    gaps
      .filter(gap => gap.from < to && gap.to > from)
      .reduce((sum, gap) => sum + Math.max(0, gap.to - gap.from - (gap.saves ? save : step)), 0),
  )
}

export function median(numbers: readonly number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? 0
}

async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const begun = performance.now(); performance.now() - begun < 150_000; await wait(100))
    if (await isSo()) return
  throw new Error(`${what}: not within 150 s`)
}
