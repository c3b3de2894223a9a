import type { InstanceView } from '../../../contract/instance/instance.ts'
import { canGetIn } from '../../../contract/reading.ts'
import type { Clock } from '../../../ports/clock.ts'
import { outputOf } from '../../../ssh/exec.ts'
import { gpuQuestion, readGpus } from '../../../ssh/monitor/metrics.ts'
import { type AccountContext, withConnection } from '../../account-context.ts'
import type { HeardLoad, Loads } from './facts.ts'

/** GPU loads of instances whose service does not report them now: its last report, or read over SSH. */
export interface GpuLoads {
  /** Takes the loads that the service reports for running instances, at each poll. */
  told(instances: Readonly<Record<string, InstanceView>>, at: number): void
  /** Reads them over SSH, unless done recently; `rate` of the account's time. Does not wait. */
  ask(instances: readonly InstanceView[], rate: number): void
  /**
   * Loads from about the last two reads; older ones are useless. `between`: seconds of the account's time between two
   * polls, since reads happen at polls.
   */
  heard(rate: number, between: number): Loads
}

/** Milliseconds: between reads of an instance (of the account's time, and at least on this computer), and for one. */
const interval = 60_000
const shortestInterval = 2000
const patience = 10_000

/** `question` resolves with the output of `gpuQuestion` on an instance; loads that cannot be read stay unknown. */
export function createGpuLoads(context: {
  clock: Clock
  question: (instance: InstanceView) => Promise<string>
  now: () => number
  ending: AbortSignal
}): GpuLoads {
  const { clock, question, now, ending } = context
  const loads = new Map<number, HeardLoad>()
  const asked = new Map<number, number>()

  async function hear(instance: InstanceView): Promise<void> {
    // A late answer is about the moment of the question.
    const at = now()
    const load = busiest(await question(instance))
    if (load !== undefined) loads.set(instance.id, { load, at })
  }

  return {
    told(instances, at) {
      for (const { id, state, gpuLoad } of Object.values(instances))
        if (state === 'running' && gpuLoad !== undefined) loads.set(id, { load: gpuLoad, at })
      for (const id of loads.keys()) if (!instances[id]) loads.delete(id)
    },
    ask(instances, rate) {
      const pause = Math.max(shortestInterval, interval / rate)
      for (const instance of instances) {
        const last = asked.get(instance.id)
        const soon = last !== undefined && clock.monotonic() - last < pause
        if (ending.aborted || soon || !canGetIn(instance)) continue
        asked.set(instance.id, clock.monotonic())
        void hear(instance).catch(() => undefined)
      }
    },
    heard(rate, between) {
      const since = now() - 2 * Math.max(interval / 1000, (shortestInterval / 1000) * rate, between) - between
      return new Map([...loads].filter(([, { at }]) => at >= since))
    },
  }
}

/** The load of the busiest GPU; undefined if one does not report its load, since it may be busy. */
export function busiest(printed: string): number | undefined {
  const gpus = readGpus(printed).map(({ load }) => load)
  const known = gpus.filter(load => load !== undefined)
  return known.length === 0 || known.length < gpus.length ? undefined : Math.max(...known)
}

/** Reads an instance's GPUs over SSH. */
export function askGpuMetrics(context: Pick<AccountContext, 'account' | 'access' | 'machine' | 'client'>) {
  const bounds = { clock: context.machine.clock, within: patience, most: 65_536 }
  return (instance: InstanceView): Promise<string> =>
    withConnection(context, instance, async connection => {
      const { text, code } = await outputOf(connection, gpuQuestion, bounds)
      return code === 0 ? text : ''
    })
}
