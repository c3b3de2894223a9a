import type { Clock } from '#platform/platform.ts'
import { sleep } from '#platform/tasks.ts'
import { canGetIn } from '#shared/derived.ts'
import type { InstanceView } from '#shared/instance/instance.ts'
import { withoutEnd } from '#shared/text.ts'
import { outputOf } from '#ssh/exec.ts'
import { busiest, loadQuestion, whyUnread } from '#ssh/monitor/metrics.ts'
import { type AccountContext, withConnection } from '../account-context.ts'
import { problemOf } from '../bridge/problems.ts'
import type { SshLoad, SshLoads } from './facts.ts'

/** GPU loads of instances whose service does not report them now: its last report, or read over SSH. */
export type GpuLoads = ReturnType<typeof createGpuLoads>

/** Milliseconds: between reads of an instance (of the account's time, and at least on this computer), and for one. */
const interval = 60_000
const shortestInterval = 2000
const patience = 20_000
const longestLook = 5000
/** Readings in a row that fail until a load counts as one that cannot be read. */
const mostFailures = 3

/** `question` resolves with the output of `loadQuestion` on an instance. `heard`: a reading has come to its end. */
export function createGpuLoads(context: {
  clock: Clock
  question: (instance: InstanceView) => Promise<string>
  now: () => number
  quitting: AbortSignal
  heard?: () => void
}) {
  const { clock, question, now, quitting, heard = () => undefined } = context
  const loads = new Map<number, SshLoad>()
  const askedAt = new Map<number, number>()
  /** Failed readings in a row, by instance. */
  const failures = new Map<number, number>()

  async function hear(instance: InstanceView): Promise<void> {
    const { id } = instance
    // A late answer is about the moment of the question.
    const at = now()
    try {
      const printed = await question(instance)
      failures.delete(id)
      const load = busiest(printed)
      loads.set(id, load === undefined ? { why: whyUnread(printed), at } : { load, at })
    } catch (error) {
      const failed = (failures.get(id) ?? 0) + 1
      failures.set(id, failed)
      // A connection may break once.
      if (failed >= mostFailures) loads.set(id, { why: withoutEnd(problemOf(error).message, '.'), at })
    }
    if (!quitting.aborted) heard()
  }

  return {
    /** Takes the loads that the service reports for running instances, at each poll. */
    addReported(instances: Readonly<Record<string, InstanceView>>, at: number): void {
      for (const { id, state, gpuLoad } of Object.values(instances))
        if (state === 'running' && gpuLoad !== undefined) loads.set(id, { load: gpuLoad, at })
      for (const id of [...loads.keys(), ...failures.keys()])
        if (!instances[id]) {
          loads.delete(id)
          failures.delete(id)
        }
    },
    /** Reads them over SSH, unless done recently; `rate` of the account's time. Does not wait. */
    ask(instances: readonly InstanceView[], rate: number): void {
      const pause = Math.max(shortestInterval, interval / rate)
      for (const instance of instances) {
        const last = askedAt.get(instance.id)
        const soon = last !== undefined && clock.monotonic() - last < pause
        if (quitting.aborted || soon || !canGetIn(instance)) continue
        askedAt.set(instance.id, clock.monotonic())
        void hear(instance)
      }
    },
    /** Reads one now; resolves once that has come to its end, or after 5 seconds. */
    look(instance: InstanceView): Promise<void> {
      if (quitting.aborted || !canGetIn(instance)) return Promise.resolve()
      askedAt.set(instance.id, clock.monotonic())
      return Promise.race([hear(instance), sleep(clock, longestLook)])
    },
    /**
     * Loads from about the last two reads; older ones are useless. `between`: seconds of the account's time between two
     * polls, since reads happen at polls.
     */
    heard(rate: number, between: number): SshLoads {
      const since = now() - 2 * Math.max(interval / 1000, (shortestInterval / 1000) * rate, between) - between
      return new Map([...loads].filter(([, { at }]) => at >= since))
    },
  }
}

/** Reads an instance's GPU loads over SSH, as `loadQuestion` prints them. */
export function askGpuMetrics(context: Pick<AccountContext, 'account' | 'access' | 'platform' | 'client'>) {
  const bounds = { clock: context.platform.clock, within: patience, most: 65_536 }
  return (instance: InstanceView): Promise<string> =>
    withConnection(
      context,
      instance,
      async connection => (await outputOf(connection, loadQuestion, bounds)).text,
    )
}
