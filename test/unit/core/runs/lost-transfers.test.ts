import { expect, test } from 'vitest'
import { overLosses } from '#core/access/retry-on-disconnect.ts'
import { Dropped, RunFolders } from '#core/runs/run-folders.ts'
import { openStoredRuns } from '#core/runs/stored-runs.ts'
import { deferred, orAborted } from '#platform/tasks.ts'
import type { InstanceState } from '#shared/instance/instance.ts'
import { BerthError } from '#shared/problem.ts'
import type { SharedConnection } from '#ssh/connection/sharing.ts'
import { accountContext } from '#test/berth/account-context.ts'
import { flushPromises, HandClock } from '#test/berth/clocks.ts'
import { instanceView } from '../../views.ts'
import { projectRun } from './stored-run.ts'

type Parts = ConstructorParameters<typeof RunFolders>[1]
const forEver = (signal: AbortSignal) => orAborted(new Promise<never>(() => undefined), signal)

async function open() {
  const context = accountContext()
  const runs = await openStoredRuns(context, () => undefined)
  const run = projectRun({ step: 'running', instance: 7 })
  await runs.add(run)
  const ssh = { direct: { host: 'h', port: 22 } }
  const states: Record<number, InstanceState> = { 7: 'running', 8: 'running' }
  const viewOf = (id = 0) => states[id] && instanceView({ id, ssh, state: states[id] })
  const folders = new RunFolders(context, { runs, machines: { viewOf } } as unknown as Parts)
  return { run, runs, folders, states }
}

test('a transfer with a machine that no longer runs ends, and the one with the next machine begins', async () => {
  const { run, folders, states } = await open()
  const first = folders.alone(run, ({ signal }) => forEver(signal))
  first.catch(() => undefined)
  await flushPromises()
  folders.dropLost()
  states[7] = 'outbid'
  const next = folders.alone({ ...run, instance: 8 }, async () => 'sent')
  await flushPromises()
  folders.dropLost()
  await expect(first).rejects.toBeInstanceOf(Dropped)
  expect(await next).toBe('sent')
})

test('a transfer whose connection is gone ends at once where it is dropped', async () => {
  const clock = new HandClock()
  const [lost, again] = [deferred<undefined>(), deferred<void>()]
  const lease = {
    connection: { lost: lost.promise },
    release: () => undefined,
  } as unknown as SharedConnection
  const leases = [lease]
  const connect = () => {
    const [next] = leases.splice(0)
    if (next) return Promise.resolve(next)
    again.resolve()
    return new Promise<never>(() => undefined)
  }
  const abort = new AbortController()
  const moving = overLosses(
    { clock, connect, signal: abort.signal, isLoss: () => true, moved: () => 0 },
    () => lost.promise.then(() => Promise.reject(new Error('lost'))),
  )
  moving.catch(() => undefined)
  await flushPromises()
  lost.resolve(undefined)
  await flushPromises()
  await clock.pass(1000)
  await again.promise
  abort.abort(new Dropped())
  await expect(moving).rejects.toBeInstanceOf(Dropped)
})

test('a transfer whose machine can’t be entered any more ends after a while, where it may', async () => {
  const why = { code: 'ssh_unreachable', message: 'No answer.' }
  for (const mostApart of [120_000, undefined]) {
    const clock = new HandClock()
    const lost = deferred<undefined>()
    const lease = {
      connection: { lost: lost.promise },
      release: () => undefined,
    } as unknown as SharedConnection
    const leases = [lease]
    const told: string[] = []
    const moving = overLosses(
      {
        clock,
        connect: async () => leases.pop() ?? Promise.reject(new BerthError(why)),
        signal: new AbortController().signal,
        ...(mostApart && { mostApart }),
        waiting: ({ code }) => void told.push(code),
        isLoss: () => true,
        moved: () => 0,
      },
      () => lost.promise.then(() => Promise.reject(new Error('lost'))),
    )
    let end: unknown
    moving.catch(error => {
      end = error
    })
    await flushPromises()
    lost.resolve(undefined)
    await flushPromises()
    await clock.pass(100_000)
    expect(end).toBeUndefined()
    await clock.pass(30_000)
    expect(end).toEqual(mostApart && new BerthError(why))
    expect(told.at(-1)).toBe(why.code)
  }
})
